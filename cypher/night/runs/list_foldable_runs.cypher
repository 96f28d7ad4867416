// The oldest runs of a persona whose steps need not be kept any longer.
//
// $tenant_id   string
// $persona_id  string
// $before      zoned datetime: runs for an earlier time
// $limit       integer
//
// Returns run {id, as_of, did}, the oldest first; did, maps {stage, did}: what its steps did.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
MATCH (run:Run)
  USING INDEX run:Run(tenant_id, persona_id, as_of)
WHERE
  run.tenant_id = $tenant_id AND
  run.persona_id = $persona_id AND
  coalesce(persona.folded_until, datetime({year: 1})) <= run.as_of < $before AND
  run.folded_at IS NULL AND
  run.state IN ['done', 'undone']
WITH run
ORDER BY run.as_of, run.id
LIMIT $limit
RETURN
  run {
    .id,
    .as_of,
    did:
      COLLECT {
        MATCH (run)-[:DID]->(step)
        RETURN step {.stage, .did}
        ORDER BY step.place
      }
  } AS run
ORDER BY run.as_of, run.id
