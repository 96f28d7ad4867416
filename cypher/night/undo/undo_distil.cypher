// Delete themes that a run has distilled.
//
// $tenant_id  string
// $ids        list of strings
//
// Returns id; linked_ids: ids of the memories that it was linked with.
CYPHER 25
UNWIND $ids AS id
MATCH (theme:Memory {tenant_id: $tenant_id, id: id})
CALL (theme) {
  OPTIONAL MATCH
    // fragment: link_types
    (theme)-[:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(other:Memory)
  RETURN collect(DISTINCT other.id) AS linked_ids
}
// fragment: deleted_recalls (item → theme)
CALL (theme) {
  MATCH (recall:Recall)-[:RECALLED]->(theme)
  DETACH DELETE recall
}
// end: deleted_recalls
DETACH DELETE theme
RETURN id, linked_ids
