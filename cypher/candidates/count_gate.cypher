// What the gate let through and what it left out, over everything said to a persona.
//
// $tenant_id   string
// $persona_id  string
//
// Returns messages; left_out, maps {reason, messages}; candidates, maps {memory_type, candidates}.
CYPHER 25
CALL () {
  MATCH (conversation:Conversation {tenant_id: $tenant_id})
    -[:WITH]->(:Persona {tenant_id: $tenant_id, id: $persona_id})
  MATCH (conversation)-[:CONTAINS]->(message:Message)
  WHERE message.persona_id = $persona_id AND message.drawn_at IS NOT NULL
  RETURN count(message) AS messages, collect(message.left_out) AS reasons
}
CALL (reasons) {
  UNWIND reasons AS of_one
  UNWIND of_one AS reason
  WITH reason, count(*) AS n
  ORDER BY n DESC, reason
  RETURN collect({reason: reason, messages: n}) AS left_out
}
CALL () {
  MATCH (candidate:Candidate|Memory)
  WHERE
    candidate.tenant_id = $tenant_id AND
    candidate.persona_id = $persona_id AND
    candidate.state IS NOT NULL AND
    candidate.extracted_at IS NOT NULL AND
    candidate.copied_from IS NULL
  WITH candidate.memory_type AS memory_type, count(*) AS n
  ORDER BY memory_type
  RETURN collect({memory_type: memory_type, candidates: n}) AS candidates
}
RETURN messages, left_out, candidates
