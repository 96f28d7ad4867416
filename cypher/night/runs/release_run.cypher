// Release a run that failed, so that the next attempt need not wait for the lease.
//
// $tenant_id        string
// $persona_id       string
// $worker           string, the one that holds it
// $finished_stages  list of maps {stage, report}: the finished stages that are not recorded yet
// $failure          string, why
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.run_worker = $worker
OPTIONAL MATCH (run:Run {tenant_id: $tenant_id, id: persona.open_run})
REMOVE persona.run_worker, persona.run_until
WITH run, [stage IN $finished_stages WHERE NOT stage.stage IN run.stages] AS finished
FOREACH (failed IN CASE WHEN run IS NULL THEN [] ELSE [run] END |
  SET
    failed.stages = failed.stages + [stage IN finished | stage.stage],
    failed.reports = coalesce(failed.reports, []) + [stage IN finished | stage.report],
    failed.failures = coalesce(failed.failures, []) + $failure
)
