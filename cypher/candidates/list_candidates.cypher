// The candidates of a persona by id, of some states.
//
// $tenant_id   string
// $persona_id  string
// $states      list of strings
// $after       string, the last id of the page before, or ''
// $limit       integer
//
// Returns candidate.
CYPHER 25
MATCH (candidate:Candidate)
WHERE
  candidate.tenant_id = $tenant_id AND
  candidate.persona_id = $persona_id AND
  candidate.state IN $states AND
  candidate.id > $after
WITH candidate
ORDER BY candidate.id
LIMIT $limit
RETURN
  candidate {
    .id,
    .persona_id,
    .memory_type,
    .text,
    .content,
    .extracted_at,
    .state,
    .flagged,
    .deprioritized_at,
    sources:
      COLLECT {
        MATCH (candidate)-[:DRAWN_FROM]->(message)
        RETURN message.id
        ORDER BY message.said_at, message.id
      }
  } AS candidate
ORDER BY candidate.id
