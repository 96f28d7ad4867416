// Set the stage that new memories wait for next; without one, they are done.
//
// $tenant_id  string
// $ids        list of strings
// $awaits     map, by memory type: the stage that comes next
CYPHER 25
UNWIND $ids AS id
MATCH (memory:Memory {tenant_id: $tenant_id, id: id})
SET memory.awaits = $awaits[memory.memory_type]
