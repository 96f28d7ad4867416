// Themes that a run distilled were never there.
//
// $tenant_id  string
// $ids        list of strings
CYPHER 25
UNWIND $ids AS id
MATCH (theme:Memory {tenant_id: $tenant_id, id: id})
DETACH DELETE theme
