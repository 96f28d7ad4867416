// Add links between memories. A link that exists stays as it is.
//
// $tenant_id  string
// $rows       list of maps {from_id, to_id, type, strength, similarity}
// $as_of      zoned datetime
//
// Returns from_id, to_id, type of each that was made.
CYPHER 25
UNWIND $rows AS row
MATCH (source:Memory {tenant_id: $tenant_id, id: row.from_id})
MATCH (target:Memory {tenant_id: $tenant_id, id: row.to_id})
// Lock before reading, so that of two workers with the same link the second finds it.
SET source.lock = true
REMOVE source.lock
WITH source, target, row
WHERE NOT EXISTS { (source)-[:$(row.type)]->(target) }
CREATE (source)-[link:$(row.type)]->(target)
SET
  link.strength = row.strength,
  link.weight_modifier = source.weight_modifier,
  link.similarity = row.similarity,
  link.coactivations = 0,
  link.created_at = $as_of
RETURN source.id AS from_id, target.id AS to_id, type(link) AS type
