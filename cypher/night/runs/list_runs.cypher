// The runs of a persona, the newest first.
//
// $tenant_id   string
// $persona_id  string
// $before      string, the last id of the previous page, or a string after all ids
// $limit       integer
//
// Returns run.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})-[:SLEPT]->(run:Run)
WHERE run.id < $before
WITH run
ORDER BY run.id DESC
LIMIT $limit
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
ORDER BY run.id DESC
