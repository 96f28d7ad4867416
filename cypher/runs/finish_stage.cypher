// Write down that a stage is over. A run that is taken up again does not do it twice.
//
// $tenant_id  string
// $run_id     string
// $stage      string
// $told       string, JSON: how long it took, and what could not be done and why
CYPHER 25
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
WHERE NOT $stage IN run.stages
SET
  run.stages = run.stages + $stage,
  run.told = coalesce(run.told, []) + $told
