// A memory as it is shown, with what flags do to it and the messages it was drawn from.

.id,
.persona_id,
.memory_type,
.text,
.content,
.category,
.project,
.state,
.importance,
.salience,
.salience_at,
.weight_modifier,
.own_modifier,
.pinned,
.access_count,
.accessed_at,
.reinforcements,
.said_at,
.formed_at,
.archived_at,
.valid_from,
.valid_to,
tags: coalesce(memory.tags, []),
distilled: memory.distilled_at IS NOT NULL,
// fragment: flag_counts (item → memory)
acts:
  COUNT {
    MATCH (memory)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
    WHERE flag.reversed_at IS NULL AND message.persona_id = memory.persona_id
    RETURN DISTINCT flag.act
  },
shown_acts:
  COUNT {
    MATCH (memory)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
    WHERE
      flag.reversed_at IS NULL AND
      message.persona_id = memory.persona_id AND
      ($viewer IS NULL OR
        flag.flagged_by = $viewer OR
        EXISTS {
          (message)<-[:CONTAINS]-()<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $viewer})
        })
    RETURN DISTINCT flag.act
  },
// end: flag_counts
sources:
  COLLECT {
    MATCH (memory)-[:DRAWN_FROM]->(message)
    RETURN message.id
    ORDER BY message.said_at, message.id
  }
