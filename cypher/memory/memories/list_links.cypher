// The links of a memory, from it and to it, whose other end the caller may see.
//
// $tenant_id     string
// $memory_id     string
// $user_id       string or null: with a user, only links to memories all of whose messages are in instances
//                they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
//
// Returns link.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
MATCH
  // fragment: link_types
  (memory)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(other:Memory)
WHERE
  // fragment: visible_item (item → other)
  ($user_id IS NULL OR
    (EXISTS { (other)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (other)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      }))
  // end: visible_item
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
