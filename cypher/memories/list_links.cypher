// The links of a memory, from it and to it.
//
// $tenant_id  string
// $memory_id  string
//
// Returns link.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
MATCH
  (memory)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(:Memory)
RETURN
  link {
    from_id: startNode(link).id,
    to_id: endNode(link).id,
    type: type(link),
    .strength,
    .weight_modifier,
    .coactivations,
    .coactivated_at,
    .created_at
  } AS link
ORDER BY link.strength DESC, link.from_id, link.to_id, link.type
