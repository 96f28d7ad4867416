// Read what the context of a persona in a conversation is made from: who it is, the latest messages, the
// summaries of earlier checkpoints, its pinned memories, and the instructions and preferences that hold. Of a flagged message only that it is flagged is
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
// $standing         integer: how many instructions and preferences
// $now              zoned datetime: facts that ended by then are left out
//
// Returns identity; is_there: whether the persona takes part; turns, checkpoints: the newest first; topic:
// the newest checkpoint that is not muted, and, when messages of it are flagged, unflagged_texts: the beginnings of
// the unflagged ones; pinned: memories, the most important first; standing: instructions before
// preferences, the newest first.
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
    RETURN memory {.id, .text, .token_estimate, .said_at, .passage, .shape_memories, .source_id}
    ORDER BY memory.importance DESC, memory.said_at DESC, memory.id
    LIMIT $pinned
  } AS pinned,
  COLLECT {
    // fragment: standing_items
    UNWIND ['instruction', 'preference'] AS category
    CALL (category) {
      MATCH (item:Memory)
        USING INDEX SEEK item:Memory(tenant_id, persona_id, category, state, said_at)
      WHERE
        item.tenant_id = $tenant_id AND
        item.persona_id = $persona_id AND
        item.category = category AND
        item.state = 'active' AND
        item.said_at <= $now AND
        item.flagged = false AND
        (item.valid_to IS NULL OR item.valid_to > $now)
      RETURN item
      // Ordered by all properties of the index, so that it is read in its order and only up to the limit.
      ORDER BY
        item.tenant_id DESC,
        item.persona_id DESC,
        item.category DESC,
        item.state DESC,
        item.said_at DESC
      LIMIT $standing
      UNION ALL
      MATCH (item:Candidate)
        USING INDEX SEEK item:Candidate(tenant_id, persona_id, category, state, said_at)
      WHERE
        item.tenant_id = $tenant_id AND
        item.persona_id = $persona_id AND
        item.category = category AND
        item.state = 'pending' AND
        item.said_at <= $now AND
        item.flagged = false
      RETURN item
      ORDER BY
        item.tenant_id DESC,
        item.persona_id DESC,
        item.category DESC,
        item.state DESC,
        item.said_at DESC
      LIMIT $standing
    }
    // The night closes what a candidate contradicts; until then it is left out here.
    WITH category, item
    WHERE
      item.fact IS NULL OR
      NOT EXISTS {
        MATCH (later:Candidate)
          USING INDEX later:Candidate(tenant_id, persona_id, fact, said_at)
        WHERE
          later.tenant_id = $tenant_id AND
          later.persona_id = $persona_id AND
          later.fact = item.fact AND
          later.said_at > item.said_at AND
          later.said_at <= $now AND
          later.state = 'pending' AND
          NOT later.flagged AND
          CASE
            WHEN later.fact_value = item.fact_value THEN later.fact_stance <> item.fact_stance
            ELSE later.fact_arity = 'single' AND later.fact_stance AND item.fact_stance
          END
      }
    ORDER BY category, item.said_at DESC, item.id
    LIMIT $standing
    // end: standing_items
    RETURN item {.id, .text, .said_at, .source_id}
    ORDER BY category, item.said_at DESC, item.id
  } AS standing
