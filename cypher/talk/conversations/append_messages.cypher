// Store messages. One that is stored already stays as it is and is returned as it was stored. Each new one is
// numbered by its arrival in the conversation.
//
// $tenant_id        string
// $conversation_id  string
// $messages         list of maps {id, persona_id, role, content, said_at, user_id, speaker,
//                   reply_to, fingerprint}
// $received_at      zoned datetime
//
// Returns message, in the order given.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
// One call at a time in a conversation, so that every arrival has a number of its own.
SET conversation.lock = true
REMOVE conversation.lock
WITH conversation, coalesce(conversation.arrivals, 0) AS arrivals
UNWIND range(0, size($messages) - 1) AS place
WITH conversation, arrivals, place, $messages[place] AS given
MERGE (message:Message {tenant_id: $tenant_id, id: given.id})
  ON CREATE SET
    message += given,
    message.conversation_id = $conversation_id,
    message.arrival = arrivals + place + 1,
    message.received_at = $received_at,
    message.waiting_since = $received_at
// An id that another conversation has is a conflict: it is returned for comparison, and not linked here.
FOREACH (once IN CASE WHEN message.conversation_id = $conversation_id THEN [1] ELSE [] END |
  MERGE (conversation)-[:CONTAINS]->(message)
  SET
    conversation.arrivals =
      CASE
        WHEN message.arrival > coalesce(conversation.arrivals, 0) THEN message.arrival
        ELSE conversation.arrivals
      END
)
RETURN
  message {
    // fragment: message_properties
    .id,
    .conversation_id,
    .persona_id,
    .role,
    .content,
    .said_at,
    .user_id,
    .speaker,
    .reply_to,
    flag:
      COLLECT {
        MATCH (flag:Flag {tenant_id: $tenant_id, id: message.flag_id})
        RETURN flag {.*}
      }[0]
    // end: message_properties
  } AS message
ORDER BY place
