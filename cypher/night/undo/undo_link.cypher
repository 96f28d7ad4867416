// Delete links that a run has made.
//
// $tenant_id  string
// $rows       list of maps {from_id, to_id, type}
//
// Returns from_id, to_id of each that was there.
CYPHER 25
UNWIND $rows AS row
MATCH
  (:Memory {tenant_id: $tenant_id, id: row.from_id})
    -[link:$(row.type)]->
  (:Memory {tenant_id: $tenant_id, id: row.to_id})
DELETE link
RETURN row.from_id AS from_id, row.to_id AS to_id
