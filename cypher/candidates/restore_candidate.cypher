// Put a candidate that the night has passed over back into the queue of the next one.
//
// $tenant_id     string
// $candidate_id  string
// $now           zoned datetime
//
// Returns candidate as it is now, and restored: whether it could be. Nothing when there is none.
CYPHER 25
MATCH (candidate:Candidate|Memory {tenant_id: $tenant_id, id: $candidate_id})
SET candidate.lock = true
REMOVE candidate.lock
WITH candidate, candidate.state = 'passed_over' AS restored
FOREACH (it IN CASE WHEN restored THEN [candidate] ELSE [] END |
  SET
    it.state = 'pending',
    it.restored_at = $now
  REMOVE it.passed_over_at
)
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
  } AS candidate,
  restored
