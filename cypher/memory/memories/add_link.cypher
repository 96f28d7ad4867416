// Link two memories of one persona. Doing it twice keeps the first.
//
// $tenant_id     string
// $from_id       string
// $to_id         string
// $user_id       string or null: with a user, only if all messages of both are in instances they are a
//                member of, and one of the first's is theirs, or of an instance they are an admin of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $type          string
// $strength      float
// $prune_below   map, by memory type: the next run looks at links weaker than this
// $event         map {id, action, by, at, after}
//
// Returns link; nothing when the caller may not see one of them, or they belong to two personas.
CYPHER 25
MATCH (source:Memory {tenant_id: $tenant_id, id: $from_id})
MATCH (target:Memory {tenant_id: $tenant_id, id: $to_id})
WHERE source.persona_id = target.persona_id
SET source.lock = true
REMOVE source.lock
WITH source, target
WHERE
  // fragment: changeable_item (item → source)
  ($user_id IS NULL OR
    (EXISTS { (source)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (source)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      })) AND
  ($user_id IS NULL OR
    EXISTS {
      MATCH
        (source)-[:DRAWN_FROM]->(message)
          <-[:CONTAINS]-()<-[:HOLDS]-()
          <-[member:MEMBER_OF]-({id: $user_id})
      WHERE message.user_id = $user_id OR member.role = 'admin'
    }) AND
  // end: changeable_item
  // fragment: visible_item (item → target)
  ($user_id IS NULL OR
    (EXISTS { (target)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (target)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      }))
  // end: visible_item
MERGE (source)-[link:$($type)]->(target)
  ON CREATE SET
    link.strength = $strength,
    link.weight_modifier = source.weight_modifier,
    link.coactivations = 0,
    link.created_at = $event.at,
    link.fresh = true
SET
  source.prune_at =
    CASE
      WHEN link.strength < $prune_below[source.memory_type] THEN coalesce(source.prune_at, $event.at)
      ELSE source.prune_at
    END
WITH source, target, link
FOREACH (once IN CASE WHEN link.fresh THEN [1] ELSE [] END |
  CREATE
    (event:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      written_at: datetime.realtime(),
      after: $event.after
    })-[:ABOUT]->(source)
  CREATE (event)-[:ABOUT]->(target)
)
REMOVE link.fresh
RETURN
  link {
    from_id: source.id,
    to_id: target.id,
    type: type(link),
    .strength,
    .weight_modifier,
    .coactivations,
    .coactivated_at,
    .created_at
  } AS link
