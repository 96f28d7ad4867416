// Delete themes that a run has distilled.
//
// $tenant_id  string
// $ids        list of strings
CYPHER 25
UNWIND $ids AS id
MATCH (theme:Memory {tenant_id: $tenant_id, id: id})
DETACH DELETE theme
