// Where a conversation with a persona stands: who the persona is, what was said last, flagged or not,
// and what the checkpoints before that tell.
//
// $tenant_id        string
// $conversation_id  string
// $persona_id       string
// $user_id          string or null: with a user, only inside an instance they are a member of
// $turns            integer
// $checkpoints      integer
//
// Returns identity; is_there: whether the persona takes part; turns, checkpoints: the newest first.
// Nothing when there is no such conversation for this caller.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
WHERE
  $user_id IS NULL OR
  EXISTS {
    (:User {tenant_id: $tenant_id, id: $user_id})
      -[:MEMBER_OF]->(:Instance)-[:HOLDS]->(conversation)
  }
OPTIONAL MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.id IN conversation.persona_ids AND persona.copying IS NULL
RETURN
  persona.identity AS identity,
  persona IS NOT NULL AS is_there,
  COLLECT {
    MATCH (message:Message)
    WHERE
      message.tenant_id = $tenant_id AND
      message.conversation_id = $conversation_id AND
      message.said_at IS NOT NULL AND
      message.id IS NOT NULL AND
      message.persona_id = $persona_id
    RETURN
      message {
        .id,
        .role,
        .content,
        .speaker,
        .user_id,
        .said_at,
        .reply_to,
        flagged: coalesce(message.flagged, false)
      }
    ORDER BY message.said_at DESC, message.id DESC
    LIMIT $turns
  } AS turns,
  COLLECT {
    MATCH (checkpoint:Checkpoint)
    USING INDEX checkpoint:Checkpoint(tenant_id, conversation_id, from_at)
    WHERE
      checkpoint.tenant_id = $tenant_id AND
      checkpoint.conversation_id = $conversation_id AND
      checkpoint.from_at IS NOT NULL
    RETURN checkpoint {.id, .label, .summary, .from_at, .muted}
    ORDER BY checkpoint.from_at DESC, checkpoint.id DESC
    LIMIT $checkpoints
  } AS checkpoints
