// Links that were pruned are back, with all they had.
//
// $tenant_id  string
// $rows       list of maps {memory_id, before, links: list of maps {from_id, to_id, type, properties}}
CYPHER 25
UNWIND $rows AS row
MATCH (memory:Memory {tenant_id: $tenant_id, id: row.memory_id})
SET memory.prune_at = row.before
WITH memory, row
UNWIND row.links AS gone
MATCH (target:Memory {tenant_id: $tenant_id, id: gone.to_id})
WHERE NOT EXISTS { (memory)-[:$(gone.type)]->(target) }
CREATE (memory)-[link:$(gone.type)]->(target)
SET link = gone.properties
