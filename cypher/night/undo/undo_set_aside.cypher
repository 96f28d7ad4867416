// Let the items that a run has set aside wait again.
//
// $tenant_id  string
// $rows       list of maps {id, awaits: the stage a memory waited for, or null}
CYPHER 25
UNWIND $rows AS row
MATCH (item:Candidate|Memory {tenant_id: $tenant_id, id: row.id})
SET item.awaits = row.awaits
REMOVE item.set_aside_at, item.set_aside_why
