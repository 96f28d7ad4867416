// Some items as the Memory Manager shows them, those that the caller may see.
//
// $tenant_id     string
// $ids           list of strings
// $instance_id   string or null: only those of which something was said in this instance
// $user_id       string or null: with a user, only those all of whose messages are in instances they are a
//                member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $viewer        string or null: with a user, `shown_acts` counts only the flags they may know of
// $memory_type   string or null: of this type only
//
// Returns item, with acts: how many acts of flagging suppress or minimize it, and shown_acts; can_change:
// whether the user may change it.
CYPHER 25
MATCH (item:Candidate|Memory)
WHERE
  item.tenant_id = $tenant_id AND
  item.id IN $ids AND
  item.state <> 'merged' AND
  ($memory_type IS NULL OR item.memory_type = $memory_type) AND
  ($instance_id IS NULL OR
    EXISTS { (item)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-({id: $instance_id}) }) AND
  // fragment: visible_item
  ($user_id IS NULL OR
    (EXISTS { (item)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (item)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      }))
  // end: visible_item
RETURN
  item {
    .id,
    .persona_id,
    .memory_type,
    .text,
    .category,
    .state,
    .flagged,
    .importance,
    .salience,
    .weight_modifier,
    .own_modifier,
    .pinned,
    .said_at,
    .conversation_id,
    // fragment: flag_counts
    acts:
      COUNT {
        MATCH (item)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
        WHERE flag.reversed_at IS NULL AND message.persona_id = item.persona_id
        RETURN DISTINCT flag.act
      },
    shown_acts:
      COUNT {
        MATCH (item)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
        WHERE
          flag.reversed_at IS NULL AND
          message.persona_id = item.persona_id AND
          ($viewer IS NULL OR
            flag.flagged_by = $viewer OR
            EXISTS {
              (message)<-[:CONTAINS]-()<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $viewer})
            })
        RETURN DISTINCT flag.act
      },
    // end: flag_counts
    can_change:
      // fragment: own_item
      ($user_id IS NULL OR
        EXISTS {
          MATCH
            (item)-[:DRAWN_FROM]->(message)
              <-[:CONTAINS]-()<-[:HOLDS]-()
              <-[member:MEMBER_OF]-({id: $user_id})
          WHERE message.user_id = $user_id OR member.role = 'admin'
        }),
      // end: own_item
    links:
      COUNT {
        MATCH
          // fragment: link_types
          (item)-[:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-()
      },
    sources:
      COLLECT {
        MATCH (item)-[:DRAWN_FROM]->(message)
        RETURN message.id
        ORDER BY message.said_at, message.id
      }
  } AS item
