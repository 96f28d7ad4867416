// Step out of a run that failed, so that the next try need not wait for the lease.
//
// $tenant_id   string
// $persona_id  string
// $worker      string, the one that holds it
// $over        list of maps {stage, told}, the stages that are over and not written down yet
// $failure     string, why
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.run_worker = $worker
OPTIONAL MATCH (run:Run {tenant_id: $tenant_id, id: persona.open_run})
REMOVE persona.run_worker, persona.run_until
WITH run, [it IN $over WHERE NOT it.stage IN run.stages] AS over
FOREACH (it IN CASE WHEN run IS NULL THEN [] ELSE [run] END |
  SET
    it.stages = it.stages + [done IN over | done.stage],
    it.told = coalesce(it.told, []) + [done IN over | done.told],
    it.failures = coalesce(it.failures, []) + $failure
)
