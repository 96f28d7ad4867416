// Keep a candidate that a runtime proposes itself. Doing it twice keeps the first.
//
// $tenant_id   string
// $persona_id  string
// $candidate   map {id, memory_type, text, content, extracted_at}
// $filed       map {about, category, fact, valence, arousal}
// $embedding   vector
// $sources     list of strings, ids of messages
//
// Returns candidate, and missing: the messages there are not, in which case nothing was kept.
// Nothing at all when there is no such persona.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
OPTIONAL MATCH (message:Message {tenant_id: $tenant_id})
WHERE message.id IN $sources
WITH persona, message
ORDER BY message.said_at, message.id
WITH persona, collect(message) AS messages, collect(message.id) AS found
WITH persona, messages, [id IN $sources WHERE NOT id IN found] AS missing
CALL (persona, messages, missing) {
  WITH persona, messages, missing
  WHERE missing = []
  MERGE (candidate:Candidate {tenant_id: $tenant_id, id: $candidate.id})
    ON CREATE SET
      candidate += $candidate,
      candidate += $filed,
      candidate.persona_id = $persona_id,
      candidate.said_at = coalesce(messages[0].said_at, $candidate.extracted_at),
      candidate.conversation_id = messages[0].conversation_id,
      candidate.flagged = false,
      candidate.minimized = false,
      candidate.embedding = toFloatList($embedding),
      candidate.state = 'pending'
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
      sources: $sources
    } AS candidate
  UNION
  WITH missing
  WHERE missing <> []
  RETURN null AS candidate
}
RETURN candidate, missing
