// Stay inside a run: renews the lease, and takes the place of the next step.
//
// $tenant_id   string
// $persona_id  string
// $run_id      string
// $worker      string
// $seconds     integer
//
// Returns place: the number of the next step. Nothing when another worker has taken the run over.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
SET persona.lock = true
REMOVE persona.lock
WITH persona
WHERE persona.open_run = $run_id AND persona.run_worker = $worker
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
SET
  persona.run_until = datetime() + duration({seconds: $seconds}),
  run.steps = run.steps + 1
RETURN run.steps AS place
