// A persona's memories in one state that the caller may see, by id.
//
// $tenant_id     string
// $persona_id    string
// $state         string
// $memory_type   string or null: of this type only
// $category      string or null: of this category only
// $held_at       zoned datetime or null: only what held then
// $user_id       string or null: with a user, only those all of whose messages are in instances they are
//                a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $viewer        string or null: with a user, `shown_acts` counts only the flags they may know of
// $after         string, the last id of the previous page, or ''
// $limit         integer
//
// Returns memory, with acts: how many acts of flagging minimize it, and shown_acts.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, id)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.state = $state AND
  memory.id > $after AND
  ($memory_type IS NULL OR memory.memory_type = $memory_type) AND
  ($category IS NULL OR memory.category = $category) AND
  ($held_at IS NULL OR
    (memory.valid_from <= $held_at AND (memory.valid_to IS NULL OR memory.valid_to > $held_at))) AND
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
WITH memory
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY memory.tenant_id, memory.persona_id, memory.state, memory.id
LIMIT $limit
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
ORDER BY memory.id
