// Record one step of a run: what it did, and all that is needed to undo it.
//
// $tenant_id  string
// $run_id     string
// $place      integer
// $stage      string
// $did        string, JSON: counts
// $changes    string, JSON: by kind, lists of maps
CYPHER 25
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
MERGE (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
SET
  step.stage = $stage,
  step.did = $did,
  step.changes = $changes
MERGE (run)-[:DID]->(step)
