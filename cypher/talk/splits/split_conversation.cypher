// Copy messages of a conversation into a new one. The originals stay where they are; the copies keep their
// flags, and no candidates are drawn from them again. Doing it twice keeps the first.
//
// $tenant_id        string
// $conversation_id  string
// $made             map {id, title, started_at, split_first, split_last}
// $copies           map, by the id of each message: the id of its copy
// $act              map {id, by}
//
// Returns conversation; split_from, split_first, split_last: what it was split from, when it was there
// already; copies, their ids, in the order they were said. Nothing when there is no such conversation.
CYPHER 25
MATCH (origin:Conversation {tenant_id: $tenant_id, id: $conversation_id})
// Flags take the same lock, so that what is copied is the state of one moment.
SET origin.lock = true
REMOVE origin.lock
WITH origin
MERGE (made:Conversation {tenant_id: $tenant_id, id: $made.id})
  ON CREATE SET
    made += $made,
    made.title = coalesce($made.title, origin.title),
    made.instance_id = origin.instance_id,
    made.persona_ids = origin.persona_ids,
    made.split_from = origin.id,
    // Copies keep their numbers; what is said later comes after them.
    made.arrivals = origin.arrivals,
    made.fresh = true
WITH origin, made, coalesce(made.fresh, false) AS fresh
REMOVE made.fresh
WITH origin, made, fresh
CALL (origin, made, fresh) {
  WITH origin, made
  WHERE fresh
  MATCH (instance:Instance {tenant_id: $tenant_id, id: origin.instance_id})
  CREATE (instance)-[:HOLDS]->(made)
  WITH origin, made
  MATCH (origin)-[:WITH]->(persona)
  CREATE (made)-[:WITH]->(persona)
  RETURN count(persona) AS personas
}
CALL (made, fresh) {
  UNWIND CASE WHEN fresh THEN keys($copies) ELSE [] END AS id
  MATCH (message:Message {tenant_id: $tenant_id, id: id, conversation_id: $conversation_id})
  // If candidates are drawn or merged at the same time, the second sees what the first has done.
  SET message.lock = true
  REMOVE message.lock
  WITH made, message
  CREATE
    (made)-[:CONTAINS]->(copy:Message {
      tenant_id: $tenant_id,
      id: $copies[message.id],
      conversation_id: made.id,
      copied_from: coalesce(message.copied_from, message.id),
      received_at: made.started_at,
      persona_id: message.persona_id,
      role: message.role,
      content: message.content,
      said_at: message.said_at,
      arrival: message.arrival,
      user_id: message.user_id,
      speaker: message.speaker,
      reply_to: coalesce($copies[message.reply_to], message.reply_to),
      fingerprint: message.fingerprint,
      flagged: message.flagged,
      // A message that candidates are still to be drawn from gets into a checkpoint after that.
      uncovered_since: CASE WHEN message.waiting_since IS NULL THEN made.started_at END
    })
  WITH message, copy
  CALL (message, copy) {
    MATCH (first:Message {tenant_id: $tenant_id, id: copy.copied_from})
    CREATE (copy)-[:COPY_OF]->(first)
    WITH message, copy
    // Nothing is remembered twice: what was drawn from the message has the copy as a source too, so
    // that a flag on either counts.
    MATCH (item:Candidate|Memory)-[:DRAWN_FROM]->(message)
    WHERE item.persona_id = message.persona_id
    CREATE (item)-[:DRAWN_FROM]->(copy)
    RETURN count(item) AS items
  }
  CALL (message, copy) {
    // The history of the message explains the state of the copy too.
    MATCH (event:Event)-[:ABOUT]->(message)
    CREATE (event)-[:ABOUT]->(copy)
    RETURN count(event) AS events
  }
  CALL (message, copy) {
    MATCH (flag:Flag {tenant_id: $tenant_id, id: message.flag_id})
    // The same act, so that memories do not lose weight twice; a flag of its own, so that each can be
    // taken back by itself.
    CREATE (own:Flag)
    SET
      own = flag {.*, id: copy.id + '-' + flag.id, range_id: null, copied_from: flag.id},
      copy.flag_id = own.id
    CREATE (own)-[:FLAGS]->(copy)
    RETURN count(own) AS flags
  }
  RETURN collect(message) AS messages, collect(copy) AS copied
}
CALL (origin, messages, copied) {
  WITH origin, messages, copied
  WHERE messages <> []
  SET origin.events = coalesce(origin.events, 0) + 1
  CREATE
    (event:Event {
      tenant_id: $tenant_id,
      conversation_id: $conversation_id,
      place: origin.events,
      id: $act.id,
      action: 'split',
      by: $act.by,
      at: $made.started_at,
      written_at: datetime.realtime(),
      into: $made.id,
      message_ids: [message IN messages | message.id]
    })
  FOREACH (message IN messages + copied | CREATE (event)-[:ABOUT]->(message))
  RETURN count(*) AS written
}
RETURN
  made {
    .id,
    .instance_id,
    .persona_ids,
    .title,
    .started_at
  } AS conversation,
  made.split_from AS split_from,
  made.split_first AS split_first,
  made.split_last AS split_last,
  COLLECT {
    MATCH (made)-[:CONTAINS]->(copy:Message)-[:COPY_OF]->()
    RETURN copy.id
    ORDER BY copy.said_at, copy.arrival
  } AS copies
