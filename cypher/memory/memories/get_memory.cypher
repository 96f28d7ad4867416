// One memory, archived or not, if the caller may see it.
//
// $tenant_id     string
// $memory_id     string
// $user_id       string or null: with a user, only if all its messages are in instances they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $viewer        string or null: with a user, `shown_acts` counts only the flags they may know of
//
// Returns memory, with acts: how many acts of flagging minimize it, and shown_acts. Nothing when there is
// none for this caller.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
WHERE
  // fragment: visible_item (item → memory)
  ($user_id IS NULL OR
    (EXISTS { (memory)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (memory)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      }))
  // end: visible_item
RETURN
  memory {
    // fragment: memory_properties
    .id,
    .persona_id,
    .memory_type,
    .text,
    .content,
    .category,
    .project,
    .state,
    .importance,
    .salience,
    .salience_at,
    .weight_modifier,
    .own_modifier,
    .pinned,
    .access_count,
    .accessed_at,
    .reinforcements,
    .said_at,
    .formed_at,
    .archived_at,
    .valid_from,
    .valid_to,
    tags: coalesce(memory.tags, []),
    distilled: memory.distilled_at IS NOT NULL,
    acts:
      COUNT {
        MATCH (memory)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
        WHERE flag.reversed_at IS NULL AND message.persona_id = memory.persona_id
        RETURN DISTINCT flag.act
      },
    shown_acts:
      COUNT {
        MATCH (memory)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
        WHERE
          flag.reversed_at IS NULL AND
          message.persona_id = memory.persona_id AND
          ($viewer IS NULL OR
            flag.flagged_by = $viewer OR
            EXISTS {
              (message)<-[:CONTAINS]-()<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $viewer})
            })
        RETURN DISTINCT flag.act
      },
    sources:
      COLLECT {
        MATCH (memory)-[:DRAWN_FROM]->(message)
        RETURN message.id
        ORDER BY message.said_at, message.id
      }
    // end: memory_properties
  } AS memory
