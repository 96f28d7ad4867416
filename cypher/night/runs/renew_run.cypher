// Stay inside a run: renews the lease, and takes the place of the next step. Writes down the stages
// that are over; a run that is taken up again does not do them twice.
//
// $tenant_id   string
// $persona_id  string
// $run_id      string
// $worker      string
// $seconds     integer
// $over        list of maps {stage, told: JSON, how long it took, and what could not be done and why}
//
// Returns place: the number of the next step. Nothing when another worker has taken the run over.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
SET persona.lock = true
REMOVE persona.lock
WITH persona
WHERE persona.open_run = $run_id AND persona.run_worker = $worker
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
WITH persona, run, [it IN $over WHERE NOT it.stage IN run.stages] AS over
SET
  persona.run_until = datetime() + duration({seconds: $seconds}),
  run.steps = run.steps + 1,
  run.stages = run.stages + [it IN over | it.stage],
  run.told = coalesce(run.told, []) + [it IN over | it.told]
RETURN run.steps AS place
