// Add the candidates drawn from messages, unless another worker has drawn from these meanwhile.
//
// $tenant_id  string
// $drawn      list of maps {message_id, left_out, candidates: list of maps {id, persona_id,
//             memory_type, text, content, index_properties, embedding, packed_vectors, token_estimate,
//             known_share, search_scope}}
// $now        zoned datetime
//
// Returns messages, candidates: how many of each were added now.
CYPHER 25
UNWIND $drawn AS row
MATCH (message:Message {tenant_id: $tenant_id, id: row.message_id})
// Writing first locks the message: of two workers the second finds that it is done.
SET message.drawn_at = coalesce(message.drawn_at, $now)
WITH message, row
WHERE message.waiting_since IS NOT NULL
REMOVE message.waiting_since
SET
  message.left_out = row.left_out,
  message.uncovered_since = $now
WITH
  message,
  row,
  // A split may have copied it into another conversation before anything was drawn from it.
  [(copy:Message)-[:COPY_OF]->(message) | copy] AS copies
WITH
  message,
  row,
  copies,
  any(source IN [message] + copies WHERE coalesce(source.flagged, false)) AS flagged
FOREACH (copy IN copies | SET copy.uncovered_since = $now)
WITH message, row, copies, flagged
CALL (message, row, copies, flagged) {
  UNWIND row.candidates AS drawn
  MATCH (persona:Persona {tenant_id: $tenant_id, id: drawn.persona_id})
  MERGE (candidate:Candidate {tenant_id: $tenant_id, id: drawn.id})
    ON CREATE SET
      candidate.persona_id = drawn.persona_id,
      candidate.memory_type = drawn.memory_type,
      candidate.text = drawn.text,
      candidate.content = drawn.content,
      candidate += drawn.index_properties,
      candidate.said_at = message.said_at,
      candidate.conversation_id = message.conversation_id,
      candidate.source_id = message.id,
      // It may have been flagged before anything was drawn from it.
      candidate.flagged = flagged,
      candidate.deprioritized_at = CASE WHEN flagged THEN $now END,
      candidate.minimized = false,
      candidate.embedding = toFloatList(drawn.embedding),
      candidate.packed_vectors = drawn.packed_vectors,
      candidate.token_estimate = drawn.token_estimate,
      candidate.known_share = drawn.known_share,
      candidate.search_scope = drawn.search_scope,
      candidate.extracted_at = $now,
      candidate.state = CASE WHEN flagged THEN 'suppressed' ELSE 'pending' END
  MERGE (candidate)-[:DRAWN_FROM]->(message)
  FOREACH (copy IN copies | MERGE (candidate)-[:DRAWN_FROM]->(copy))
  MERGE (persona)-[:CONSIDERS]->(candidate)
  RETURN collect(candidate {.tenant_id, .persona_id, .id, content: true}) AS added
}
WITH count(message) AS messages, collect(added) AS lists
WITH messages, reduce(changed = [], added IN lists | changed + added) AS changed
// fragment: log_changes
CALL (changed) {
  UNWIND changed AS change
  WITH
    change.tenant_id AS tenant_id,
    change.persona_id AS persona_id,
    collect(DISTINCT change.id) AS item_ids,
    true IN collect(change.content) AS content
  ORDER BY tenant_id, persona_id
  MERGE (log:ChangeLog {tenant_id: tenant_id, persona_id: persona_id})
    ON CREATE SET log.revision = 0
  SET log.lock = true
  REMOVE log.lock
  // Read as one map: a property that is named may have been read before the lock.
  WITH log, item_ids, content, properties(log).revision + 1 AS revision
  SET log.revision = revision
  CREATE
    (:Change {
      tenant_id: log.tenant_id,
      persona_id: log.persona_id,
      revision: revision,
      at: datetime.realtime(),
      // Of more, a cache reads everything again.
      item_ids: CASE WHEN size(item_ids) <= 2000 THEN item_ids END,
      content: content
    })
}
// end: log_changes
RETURN messages, size(changed) AS candidates
