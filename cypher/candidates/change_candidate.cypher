// Change a candidate that can still be changed. One that has become a memory is found, and is not.
//
// $tenant_id     string
// $candidate_id  string
// $changes       map, any of {text, content, about, category, fact, valence, arousal, state, edited_at,
//                removed_at, facets, token_estimate}
// $embedding     vector or null: of the new text
// $drawn_after   zoned datetime: the editing window of anything older is over
//
// Returns candidate as it is now, and changed: whether it could be. Nothing when there is none.
CYPHER 25
MATCH (candidate:Candidate|Memory {tenant_id: $tenant_id, id: $candidate_id})
SET candidate.lock = true
REMOVE candidate.lock
WITH
  candidate,
  candidate:Candidate AND
  candidate.state IN ['pending', 'suppressed'] AND
  candidate.extracted_at > $drawn_after AS changed
SET
  candidate += CASE WHEN changed THEN $changes ELSE {} END,
  candidate.embedding =
    CASE
      WHEN changed AND $embedding IS NOT NULL THEN toFloatList($embedding)
      ELSE candidate.embedding
    END
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
  changed
