// Flag messages of one conversation, with all that follows: candidates drawn from them are suppressed,
// memories drawn from them and the links going out from those are turned down. Nothing is cut. It is the
// memory of the persona each message belongs to that changes, and no other's.
// A message that is flagged already keeps its flag.
//
// $tenant_id        string
// $conversation_id  string
// $message_ids      list of strings
// $act              map {id, is_range, by, at}
// $young_after      zoned datetime: what was said later is young
// $factor           float: what one act leaves of a memory's weight
// $event            map {id, action}
//
// Returns message_id, flag, for each message that was found, in the order given; candidates, memories,
// links: how many were touched by this call.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
// One at a time in a conversation, so that overlapping ranges come out as if one had been first.
SET conversation.lock = true
REMOVE conversation.lock
WITH conversation
CALL () {
  UNWIND $message_ids AS id
  MATCH (message:Message {tenant_id: $tenant_id, id: id, conversation_id: $conversation_id})
  WHERE NOT coalesce(message.flagged, false)
  RETURN collect(message) AS fresh
}
WITH
  conversation,
  fresh,
  any(message IN fresh WHERE message.said_at > $young_after) AND
  any(message IN fresh WHERE message.said_at <= $young_after) AS mixed
CALL (fresh, mixed) {
  UNWIND range(0, size(fresh) - 1) AS place
  WITH fresh[place] AS message, place, mixed
  CREATE
    (flag:Flag {
      tenant_id: $tenant_id,
      id: $act.id + CASE WHEN $act.is_range THEN '-' + toString(place) ELSE '' END,
      act: $act.id,
      flagged_at: $act.at,
      flagged_by: $act.by,
      range_id: CASE WHEN $act.is_range THEN $act.id END,
      scope:
        CASE
          WHEN message.said_at > $young_after THEN 'context_and_memory'
          WHEN $act.is_range AND NOT mixed THEN 'context_and_memory'
          ELSE 'context_only'
        END
    })
  CREATE (flag)-[:FLAGS]->(message)
  SET
    message.flagged = true,
    message.flag_id = flag.id
}
CALL (fresh) {
  UNWIND fresh AS message
  MATCH (item:Candidate|Memory)-[:DRAWN_FROM]->(message)
  WHERE item.persona_id = message.persona_id
  WITH DISTINCT item
  ORDER BY item.id
  // The lock before the look: the night may just be making a memory of it.
  SET item.lock = true
  REMOVE item.lock
  WITH item
  SET item.flagged = true
  WITH item, item:Memory AS is_memory, item.state AS state
  SET
    item.state = CASE WHEN state = 'pending' THEN 'suppressed' ELSE state END,
    item.deprioritized_at =
      CASE WHEN is_memory THEN null ELSE coalesce(item.deprioritized_at, $act.at) END
  RETURN
    collect(CASE WHEN is_memory THEN item END) AS memories,
    sum(CASE WHEN state = 'pending' THEN 1 ELSE 0 END) AS candidates
}
CALL (memories) {
  UNWIND memories AS memory
  WITH
    memory,
    COUNT {
      MATCH (memory)-[:DRAWN_FROM]->(message:Message)<-[:FLAGS]-(flag:Flag)
      WHERE flag.reversed_at IS NULL AND message.persona_id = memory.persona_id
      RETURN DISTINCT flag.act
    } AS acts
  SET
    memory.weight_modifier = coalesce(memory.own_modifier, 1.0) * $factor ^ acts,
    memory.minimized = true
  WITH memory
  OPTIONAL MATCH
    (memory)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->()
  SET link.weight_modifier = memory.weight_modifier
  RETURN count(link) AS links
}
CALL (conversation, fresh) {
  WITH conversation, fresh
  WHERE fresh <> []
  SET conversation.events = coalesce(conversation.events, 0) + 1
  CREATE
    (event:Event {
      tenant_id: $tenant_id,
      conversation_id: $conversation_id,
      place: conversation.events,
      id: $event.id,
      action: $event.action,
      by: $act.by,
      at: $act.at,
      range_id: CASE WHEN $act.is_range THEN $act.id END,
      message_ids: [message IN fresh | message.id]
    })
  FOREACH (message IN fresh | CREATE (event)-[:ABOUT]->(message))
  FOREACH (range IN CASE WHEN $act.is_range THEN [1] ELSE [] END |
    CREATE
      (:Range {
        tenant_id: $tenant_id,
        id: $act.id,
        conversation_id: $conversation_id,
        message_ids: $message_ids,
        created_at: $act.at,
        created_by: $act.by
      })
  )
  RETURN count(*) AS written
}
CALL (memories, candidates, fresh) {
  UNWIND range(0, size($message_ids) - 1) AS place
  MATCH
    (message:Message {
      tenant_id: $tenant_id,
      id: $message_ids[place],
      conversation_id: $conversation_id
    })
  MATCH (flag:Flag {tenant_id: $tenant_id, id: message.flag_id})
  RETURN message.id AS message_id, flag {.*} AS flag, place
}
RETURN message_id, flag, candidates, size(memories) AS memories, links
ORDER BY place
