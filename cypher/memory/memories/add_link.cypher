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
WITH source, target, link, coalesce(link.fresh, false) AS fresh
FOREACH (once IN CASE WHEN fresh THEN [1] ELSE [] END |
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
WITH
  source,
  target,
  link,
  CASE WHEN fresh THEN [source {.tenant_id, .persona_id, .id}, target {.tenant_id, .persona_id, .id}] ELSE [] END AS changed
// fragment: log_changes
CALL (changed) {
  UNWIND changed AS change
  WITH
    change.tenant_id AS tenant_id,
    change.persona_id AS persona_id,
    collect(DISTINCT change.id) AS item_ids,
    true IN collect(change.content) AS content
  ORDER BY tenant_id, persona_id
  MERGE (log:ChangeLog {tenant_id: tenant_id, persona_id: persona_id})
    ON CREATE SET log.revision = 0
  SET log.lock = true
  REMOVE log.lock
  // Read as one map: a property that is named may have been read before the lock.
  WITH log, item_ids, content, properties(log).revision + 1 AS revision
  SET log.revision = revision
  CREATE
    (:Change {
      tenant_id: log.tenant_id,
      persona_id: log.persona_id,
      revision: revision,
      at: datetime.realtime(),
      // Of more, a cache reads everything again.
      item_ids: CASE WHEN size(item_ids) <= 2000 THEN item_ids END,
      content: content
    })
}
// end: log_changes
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
