// Record that a step was undone, and what of it could not be.
//
// $tenant_id  string
// $run_id     string
// $place      integer
// $as_of      zoned datetime
// $kept       list of strings, one for each thing that has changed since and was left so
CYPHER 25
MATCH (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
SET
  step.undone_at = $as_of,
  step.kept = $kept
