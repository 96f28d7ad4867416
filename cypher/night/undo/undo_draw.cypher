// Delete shapes that a run has drawn.
//
// $tenant_id  string
// $ids        list of strings
//
// Returns id; linked_ids: ids of the memories that it was linked with.
CYPHER 25
UNWIND $ids AS id
MATCH (shape:Memory {tenant_id: $tenant_id, id: id})
OPTIONAL MATCH (shape)-[:FELT_AS]->(experience:ShapeExperience)
CALL (shape) {
  OPTIONAL MATCH
    // fragment: link_types
    (shape)-[:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(other:Memory)
  RETURN collect(DISTINCT other.id) AS linked_ids
}
// fragment: deleted_recalls (item → shape)
CALL (shape) {
  MATCH (recall:Recall)-[:RECALLED]->(shape)
  DETACH DELETE recall
}
// end: deleted_recalls
DETACH DELETE experience, shape
RETURN id, linked_ids
