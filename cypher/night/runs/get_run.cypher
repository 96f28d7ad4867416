// One run.
//
// $tenant_id  string
// $run_id     string
//
// Returns run; nothing when there is none.
CYPHER 25
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
RETURN
  run {
    .*,
    did:
      COLLECT {
        MATCH (run)-[:DID]->(step)
        RETURN step {.stage, .did}
        ORDER BY step.place
      }
  } AS run
