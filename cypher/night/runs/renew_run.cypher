// Renew the lease of a run and take the number of the next step. Records the finished stages, so that a run that
// is taken over does not repeat them.
//
// $tenant_id        string
// $persona_id       string
// $run_id           string
// $worker           string
// $seconds          integer
// $finished_stages  list of maps {stage, report: JSON, how long it took, what failed and why}: the finished stages
//
// Returns place: the number of the next step. Nothing when another worker has taken the run over.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
SET persona.lock = true
REMOVE persona.lock
WITH persona
WHERE persona.open_run = $run_id AND persona.run_worker = $worker
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
WITH persona, run, [stage IN $finished_stages WHERE NOT stage.stage IN run.stages] AS finished
SET
  persona.run_until = datetime() + duration({seconds: $seconds}),
  run.steps = run.steps + 1,
  run.stages = run.stages + [stage IN finished | stage.stage],
  run.reports = coalesce(run.reports, []) + [stage IN finished | stage.report]
RETURN run.steps AS place
