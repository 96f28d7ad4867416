// A fact holds until another denies it.
//
// $tenant_id  string
// $rows       list of maps {id, valid_to: zoned datetime or null}
//
// Returns id, before: when it was thought to end; of those that changed.
CYPHER 25
UNWIND $rows AS row
MATCH (memory:Memory {tenant_id: $tenant_id, id: row.id})
WITH memory, row, memory.valid_to AS before
WHERE coalesce(before <> row.valid_to, before IS NOT NULL OR row.valid_to IS NOT NULL)
SET memory.valid_to = row.valid_to
RETURN memory.id AS id, before
