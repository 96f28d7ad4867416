// Read what the context of a persona in a conversation is made from: who it is, the latest messages, the
// summaries of earlier checkpoints, and its pinned memories. Of a flagged message only that it is flagged is
// returned, not its content.
//
// $tenant_id        string
// $conversation_id  string
// $persona_id       string
// $user_id          string or null: with a user, only inside an instance they are a member of
// $instance_ids     list of strings or null: with a list, only these of the user's instances
// $turns            integer
// $checkpoints      integer
// $pinned           integer
// $now              zoned datetime: facts that ended by then are left out
//
// Returns identity; is_there: whether the persona takes part; turns, checkpoints: the newest first; topic:
// the newest checkpoint that is not muted, and, when messages of it are flagged, unflagged_texts: the beginnings of
// the unflagged ones; pinned: memories, the most important first.
// Nothing when there is no such conversation for this caller.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
WHERE
  // fragment: visible_conversation
  ($user_id IS NULL OR
    EXISTS {
      MATCH (conversation)<-[:HOLDS]-(instance)<-[:MEMBER_OF]-({id: $user_id})
      WHERE $instance_ids IS NULL OR instance.id IN $instance_ids
    })
  // end: visible_conversation
OPTIONAL MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.id IN conversation.persona_ids AND persona.copying IS NULL
RETURN
  persona.identity AS identity,
  persona IS NOT NULL AS is_there,
  COLLECT {
    MATCH (message:Message)
      USING INDEX SEEK message:Message(tenant_id, conversation_id, said_at, arrival)
    WHERE
      message.tenant_id = $tenant_id AND
      message.conversation_id = $conversation_id AND
      message.said_at IS NOT NULL AND
      message.arrival IS NOT NULL AND
      message.persona_id = $persona_id
    WITH message
    // Ordered by all properties of the index, so that it is read in its order and only up to the limit.
    ORDER BY
      message.tenant_id DESC,
      message.conversation_id DESC,
      message.said_at DESC,
      message.arrival DESC
    LIMIT $turns
    RETURN
      message {
        // fragment: turn_properties
        .id,
        .arrival,
        .role,
        .speaker,
        .user_id,
        .said_at,
        .reply_to,
        source_id: coalesce(message.copied_from, message.id),
        flagged: coalesce(message.flagged, false),
        content: CASE WHEN NOT coalesce(message.flagged, false) THEN message.content END
        // end: turn_properties
      }
  } AS turns,
  COLLECT {
    MATCH (checkpoint:Checkpoint)
    USING INDEX checkpoint:Checkpoint(tenant_id, conversation_id, from_at)
    WHERE
      checkpoint.tenant_id = $tenant_id AND
      checkpoint.conversation_id = $conversation_id AND
      checkpoint.from_at IS NOT NULL
    RETURN
      checkpoint {
        .id,
        .from_at,
        .muted,
        // Each sentence of the summary, with the message it is from.
        sentences:
          [
            sentence IN split(checkpoint.summary, '\n') |
            {
              text: sentence,
              message_id:
                [
                  place IN range(0, size(checkpoint.parts) - 1)
                  WHERE checkpoint.parts[place] = sentence |
                  checkpoint.part_message_ids[place]
                ][0]
            }
          ]
      }
    ORDER BY checkpoint.from_at DESC, checkpoint.id DESC
    LIMIT $checkpoints
  } AS checkpoints,
  COLLECT {
    MATCH (checkpoint:Checkpoint)
    USING INDEX checkpoint:Checkpoint(tenant_id, conversation_id, from_at)
    WHERE
      checkpoint.tenant_id = $tenant_id AND
      checkpoint.conversation_id = $conversation_id AND
      checkpoint.from_at IS NOT NULL AND
      NOT coalesce(checkpoint.muted, false)
    WITH checkpoint
    ORDER BY checkpoint.from_at DESC, checkpoint.id DESC
    LIMIT 1
    RETURN
      checkpoint {
        .id,
        .label,
        .from_at,
        unflagged_texts:
          CASE WHEN EXISTS { (checkpoint)-[:COVERS]->(:Message {flagged: true}) }
            THEN COLLECT {
              MATCH (checkpoint)-[:COVERS]->(message:Message)
              WHERE NOT coalesce(message.flagged, false)
              RETURN left(message.content, 4000)
            }
          END
      }
  }[0] AS topic,
  COLLECT {
    MATCH (memory:Memory {tenant_id: $tenant_id, persona_id: $persona_id, pinned: true})
    WHERE
      memory.state = 'active' AND
      memory.flagged = false AND
      (memory.valid_to IS NULL OR memory.valid_to > $now)
    RETURN memory {.id, .text, .token_estimate, .said_at, .passage, .source_id}
    ORDER BY memory.importance DESC, memory.said_at DESC, memory.id
    LIMIT $pinned
  } AS pinned
