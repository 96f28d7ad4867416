// The messages of a conversation that candidates are still to be drawn from, the oldest first.
//
// $tenant_id        string
// $conversation_id  string
// $limit            integer
//
// Returns message, with speaker; where: the title of the conversation; repeats_at: when the same person said
// the same before; before: the end of what another said just before; is_known: whether the persona knows the speaker;
// arrival: its number.
CYPHER 25
MATCH (message:Message)
WHERE
  message.tenant_id = $tenant_id AND
  message.conversation_id = $conversation_id AND
  message.waiting_since IS NOT NULL
WITH message
ORDER BY message.said_at, message.arrival
LIMIT $limit
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
MATCH (persona:Persona {tenant_id: $tenant_id, id: message.persona_id})
RETURN
  message {
    .id,
    .persona_id,
    .role,
    .content,
    .said_at,
    where: coalesce(conversation.title, ''),
    speaker:
      CASE message.role
        WHEN 'persona' THEN persona.name
        ELSE coalesce(message.speaker, message.user_id, 'The user')
      END,
    is_known:
      message.role = 'persona' OR
      coalesce(message.speaker, message.user_id, 'The user') IN coalesce(persona.people, []),
    before:
      COLLECT {
        MATCH (other:Message {tenant_id: $tenant_id, conversation_id: $conversation_id})
          USING INDEX SEEK other:Message(tenant_id, conversation_id, said_at, arrival)
        WHERE
          other.said_at <= message.said_at AND
          other.said_at >= message.said_at - duration({hours: 1}) AND
          other.arrival IS NOT NULL AND // an index is used only if the condition names all its properties
          (other.said_at < message.said_at OR other.arrival < message.arrival)
        WITH other
        ORDER BY other.said_at DESC, other.arrival DESC
        LIMIT 1
        WITH other
        WHERE
          NOT coalesce(other.flagged, false) AND
          (other.role <> message.role OR
            coalesce(other.user_id, '') <> coalesce(message.user_id, '') OR
            coalesce(other.speaker, '') <> coalesce(message.speaker, ''))
        RETURN right(other.content, 2000) // its end, since a page may precede an answer
      }[0],
    repeats_at:
      COLLECT {
        MATCH (other:Message {
          tenant_id: $tenant_id,
          conversation_id: $conversation_id,
          fingerprint: message.fingerprint
        })
        WHERE
          // What is said again after it was forgotten is no repeat.
          NOT coalesce(other.flagged, false) AND
          other.role = message.role AND
          coalesce(other.user_id, '') = coalesce(message.user_id, '') AND
          coalesce(other.speaker, '') = coalesce(message.speaker, '') AND
          (other.said_at < message.said_at OR
            (other.said_at = message.said_at AND other.arrival < message.arrival))
        RETURN other.said_at
        ORDER BY other.said_at DESC
        LIMIT 1
      }[0]
  } AS message,
  message.arrival AS arrival
ORDER BY message.said_at, arrival
