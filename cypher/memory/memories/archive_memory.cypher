// Archive a memory: recall leaves it out by default. It can be brought back.
//
// $tenant_id     string
// $memory_id     string
// $user_id       string or null: with a user, only if all its messages are in instances they are a member of,
//                and one of them is theirs, or of an instance they are an admin of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $event         map {id, action, by, at}
//
// Returns persona_id; changed_ids: its id, nothing when it was archived already. No row when there is no such
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
WITH memory, memory.state = 'active' AS changed
FOREACH (archived IN CASE WHEN changed THEN [memory] ELSE [] END |
  SET
    archived.state = 'archived',
    archived.archived_at = $event.at,
    archived.salience = archived.salience / 2
  REMOVE archived.fades_at
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      written_at: datetime.realtime(),
      before: 'active',
      after: 'archived'
    })-[:ABOUT]->(archived)
)
RETURN memory.persona_id AS persona_id, CASE WHEN changed THEN [memory.id] ELSE [] END AS changed_ids
