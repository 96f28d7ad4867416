// Carry messages of a conversation into a new one. They stay where they were said: what is carried are
// copies, that keep their flags and are not drawn from again. Doing it twice keeps the first.
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
// The lock that flags take too, so that what is carried is the state of one moment.
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
  // Of a drawing, or a merge, and a split at once, the second sees what the first has done.
  SET message.lock = true
  REMOVE message.lock
  WITH made, message
  CREATE
    (made)-[:CONTAINS]->(carried:Message {
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
      // What is still to be drawn from is covered afterwards.
      uncovered_since: CASE WHEN message.waiting_since IS NULL THEN made.started_at END
    })
  WITH message, carried
  CALL (message, carried) {
    MATCH (first:Message {tenant_id: $tenant_id, id: carried.copied_from})
    CREATE (carried)-[:COPY_OF]->(first)
    WITH message, carried
    // Nothing is remembered twice: what was drawn from the message has the copy as a source too, and
    // so hears of a flag on either.
    MATCH (item:Candidate|Memory)-[:DRAWN_FROM]->(message)
    WHERE item.persona_id = message.persona_id
    CREATE (item)-[:DRAWN_FROM]->(carried)
    RETURN count(item) AS items
  }
  CALL (message, carried) {
    // What happened to the message is how the copy came to be as it is.
    MATCH (event:Event)-[:ABOUT]->(message)
    CREATE (event)-[:ABOUT]->(carried)
    RETURN count(event) AS events
  }
  CALL (message, carried) {
    MATCH (flag:Flag {tenant_id: $tenant_id, id: message.flag_id})
    // The same act, so that it is not turned down once more; another flag, so that each is taken back
    // by itself.
    CREATE (own:Flag)
    SET
      own = flag {.*, id: carried.id + '-' + flag.id, range_id: null, copied_from: flag.id},
      carried.flag_id = own.id
    CREATE (own)-[:FLAGS]->(carried)
    RETURN count(own) AS flags
  }
  RETURN collect(message) AS messages, collect(carried) AS there
}
CALL (origin, messages, there) {
  WITH origin, messages, there
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
  FOREACH (message IN messages + there | CREATE (event)-[:ABOUT]->(message))
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
    MATCH (made)-[:CONTAINS]->(carried:Message)-[:COPY_OF]->()
    RETURN carried.id
    ORDER BY carried.said_at, carried.arrival
  } AS copies
