// Take back the flags of some messages of one conversation, with all that followed from them. What
// another flag still holds stays as that one left it.
//
// $tenant_id        string
// $conversation_id  string
// $message_ids      list of strings
// $act              map {id, by, at, source}
// $flagged_after    zoned datetime: a flag that was set earlier is not taken back
// $factor           float: what one act leaves of a memory's weight
// $event            map {id, action}
//
// Returns message_id, flag, for each message that was ever flagged, in the order given; candidates,
// memories, links: how many were touched by this call; late: ids of messages flagged too long ago, in
// which case nothing was taken back.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
SET conversation.lock = true
REMOVE conversation.lock
WITH conversation
CALL () {
  UNWIND $message_ids AS id
  MATCH (message:Message {tenant_id: $tenant_id, id: id, conversation_id: $conversation_id})
  WHERE message.flagged
  MATCH (flag:Flag {tenant_id: $tenant_id, id: message.flag_id})
  RETURN
    collect({message: message, flag: flag}) AS held,
    collect(CASE WHEN flag.flagged_at < $flagged_after THEN message.id END) AS late
}
WITH conversation, late, CASE WHEN late = [] THEN held ELSE [] END AS held
CALL (held) {
  UNWIND held AS it
  WITH it.message AS message, it.flag AS flag
  SET
    flag.reversed_at = $act.at,
    flag.reversal_source = $act.source,
    flag.reversed_by = $act.by,
    message.flagged = false
}
CALL (held) {
  UNWIND held AS it
  MATCH (item:Candidate|Memory)-[:DRAWN_FROM]->(message)
  WHERE message = it.message AND item.persona_id = message.persona_id
  WITH DISTINCT item
  ORDER BY item.id
  SET item.lock = true
  REMOVE item.lock
  WITH
    item,
    item:Memory AS is_memory,
    item.state AS state,
    coalesce(item.own_flagged, false) OR
    EXISTS {
      (item)-[:DRAWN_FROM]->(:Message {flagged: true, persona_id: item.persona_id})
    } AS still
  SET
    item.flagged = still,
    item.deprioritized_at = CASE WHEN still THEN item.deprioritized_at END,
    item.state =
      CASE
        WHEN state <> 'suppressed' OR still THEN state
        // The night has passed over it: it waits to be restored.
        WHEN item.passed_over_at IS NOT NULL THEN 'passed_over'
        ELSE 'pending'
      END
  RETURN
    collect(CASE WHEN is_memory THEN item END) AS memories,
    sum(CASE WHEN state = 'suppressed' AND NOT still THEN 1 ELSE 0 END) AS candidates
}
CALL (memories) {
  UNWIND memories AS memory
  WITH
    memory,
    coalesce(memory.own_modifier, 1.0) *
      $factor ^
        COUNT {
          MATCH (memory)-[:DRAWN_FROM]->(message:Message)<-[:FLAGS]-(flag:Flag)
          WHERE flag.reversed_at IS NULL AND message.persona_id = memory.persona_id
          RETURN DISTINCT flag.act
        } AS weight
  SET
    memory.weight_modifier = weight,
    memory.minimized = weight < 1
  WITH memory
  OPTIONAL MATCH
    (memory)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->()
  SET link.weight_modifier = memory.weight_modifier
  RETURN count(link) AS links
}
CALL (conversation, held) {
  WITH conversation, held
  WHERE held <> []
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
      source: $act.source,
      message_ids: [it IN held | it.message.id]
    })
  FOREACH (it IN held |
    FOREACH (message IN [it.message] | CREATE (event)-[:ABOUT]->(message))
  )
  RETURN count(*) AS written
}
CALL () {
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
RETURN message_id, flag, candidates, size(memories) AS memories, links, late
ORDER BY place
