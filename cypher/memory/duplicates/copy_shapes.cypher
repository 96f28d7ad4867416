// Copy which shapes speak of some memories, and the experience of those that are shapes themselves.
//
// $tenant_id   string
// $persona_id  string
// $copy_id     string
// $worker      string
// $seconds     integer
// $rows        list of strings, ids of memories of the old persona
//
// Returns copied: how many of the memories have a copy. Nothing when another worker holds the source persona.
CYPHER 25
MATCH (source:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE source.run_worker = $worker
SET source.run_until = datetime() + duration({seconds: $seconds})
WITH source
UNWIND $rows AS id
MATCH (memory:Memory {tenant_id: $tenant_id, id: id})
MATCH (copied:Memory {tenant_id: $tenant_id, persona_id: $copy_id, copied_from: memory.id})
CALL (memory, copied) {
  MATCH (memory)-[:FELT_AS]->(experience:ShapeExperience)
  MERGE (copied)-[:FELT_AS]->(copy:ShapeExperience {tenant_id: $tenant_id, id: copied.id})
  SET copy += experience {.*, id: copied.id, persona_id: $copy_id}
}
CALL (memory, copied) {
  MATCH (memory)-[:SHAPED_INTO]->(shape:Memory)
  CALL (shape) {
    MATCH (shape_copy:Memory {tenant_id: $tenant_id, persona_id: $copy_id, copied_from: shape.id})
    RETURN shape_copy
  }
  MERGE (copied)-[:SHAPED_INTO]->(shape_copy)
}
RETURN count(copied) AS copied
