// Keep a candidate that a runtime proposes itself. Doing it twice keeps the first.
//
// $tenant_id   string
// $persona_id  string
// $candidate   map {id, memory_type, text, content, extracted_at, facets, token_estimate,
//              shelf}
// $filed       map {about, category, fact, valence, arousal}
// $embedding   vector
// $sources     list of strings, ids of messages
//
// Returns candidate, and missing: the messages there are not, in which case nothing was kept. Nor was
// it, and candidate is null, when a night has made a memory of this id.
// Nothing at all when there is no such persona.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.copying IS NULL
OPTIONAL MATCH (message:Message {tenant_id: $tenant_id})
WHERE message.id IN $sources
WITH persona, message
ORDER BY message.said_at, message.id
WITH persona, collect(message) AS said, collect(message.id) AS found
CALL (said) {
  // A split has copied it, or it is a copy: a flag on any of them is heard.
  UNWIND said AS message
  OPTIONAL MATCH (message)-[:COPY_OF]->(first:Message)
  WITH DISTINCT coalesce(first, message) AS first
  UNWIND [first] + [(carried:Message)-[:COPY_OF]->(first) | carried] AS message
  WITH message
  ORDER BY message.said_at, message.id
  // The lock before the look: somebody may just be flagging it.
  SET message.lock = true
  REMOVE message.lock
  RETURN collect(message) AS messages
}
WITH
  persona,
  messages,
  [id IN $sources WHERE NOT id IN found] AS missing,
  // A flag on what was said to another persona is not about this one.
  any(message IN messages
    WHERE coalesce(message.flagged, false) AND message.persona_id = $persona_id
  ) AS flagged,
  EXISTS { (:Memory {tenant_id: $tenant_id, id: $candidate.id}) } AS taken
CALL (persona, messages, missing, flagged, taken) {
  WITH persona, messages, missing, flagged, taken
  WHERE missing = [] AND NOT taken
  MERGE (candidate:Candidate {tenant_id: $tenant_id, id: $candidate.id})
    ON CREATE SET
      candidate += $candidate,
      candidate += $filed,
      candidate.persona_id = $persona_id,
      candidate.said_at = coalesce(messages[0].said_at, $candidate.extracted_at),
      candidate.conversation_id = messages[0].conversation_id,
      candidate.flagged = flagged,
      candidate.deprioritized_at = CASE WHEN flagged THEN $candidate.extracted_at END,
      candidate.minimized = false,
      candidate.embedding = toFloatList($embedding),
      candidate.state = CASE WHEN flagged THEN 'suppressed' ELSE 'pending' END
  MERGE (persona)-[:CONSIDERS]->(candidate)
  FOREACH (message IN messages | MERGE (candidate)-[:DRAWN_FROM]->(message))
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
      sources: [message IN messages | message.id]
    } AS candidate
  UNION
  WITH missing, taken
  WHERE missing <> [] OR taken
  RETURN null AS candidate
}
RETURN candidate, missing
