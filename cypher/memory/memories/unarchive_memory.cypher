// Bring a memory back from the archive. That counts as an access, so that it is not archived again at once.
//
// $tenant_id     string
// $memory_id     string
// $user_id       string or null: with a user, only if all its messages are in instances they are a member of,
//                and one of them is theirs, or of an instance they are an admin of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $event         map {id, action, by, at}
//
// Returns persona_id; changed_ids: its id, nothing when it was active already. No row when there is no such
// memory for this caller.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
SET memory.lock = true
REMOVE memory.lock
WITH memory
WHERE
  // fragment: changeable_item (item → memory)
  ($user_id IS NULL OR
    (EXISTS { (memory)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (memory)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      })) AND
  ($user_id IS NULL OR
    EXISTS {
      MATCH
        (memory)-[:DRAWN_FROM]->(message)
          <-[:CONTAINS]-()<-[:HOLDS]-()
          <-[member:MEMBER_OF]-({id: $user_id})
      WHERE message.user_id = $user_id OR member.role = 'admin'
    })
  // end: changeable_item
WITH memory, memory.state = 'archived' AS changed
FOREACH (activated IN CASE WHEN changed THEN [memory] ELSE [] END |
  SET
    // fragment: remembered_again (memory → activated)
    activated.state = 'active',
    activated.salience = CASE WHEN activated.salience > 0.5 THEN 1.0 ELSE activated.salience * 2 END,
    activated.access_count = activated.access_count + 1,
    activated.accessed_at = $event.at,
    activated.idle_since = $event.at,
    activated.idle_importance = activated.importance,
    activated.fades_at = $event.at
    // end: remembered_again
  REMOVE activated.archived_at
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      written_at: datetime.realtime(),
      before: 'archived',
      after: 'active'
    })-[:ABOUT]->(activated)
)
RETURN memory.persona_id AS persona_id, CASE WHEN changed THEN [memory.id] ELSE [] END AS changed_ids
