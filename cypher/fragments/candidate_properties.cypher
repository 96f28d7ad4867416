// A candidate as it is shown, with what flags do to it and the messages it was drawn from.

.id,
.persona_id,
.memory_type,
.text,
.content,
.extracted_at,
.state,
.flagged,
.deprioritized_at,
// fragment: flag_counts (item → candidate)
acts:
  COUNT {
    MATCH (candidate)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
    WHERE flag.reversed_at IS NULL AND message.persona_id = candidate.persona_id
    RETURN DISTINCT flag.act
  },
shown_acts:
  COUNT {
    MATCH (candidate)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
    WHERE
      flag.reversed_at IS NULL AND
      message.persona_id = candidate.persona_id AND
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
    MATCH (candidate)-[:DRAWN_FROM]->(message)
    RETURN message.id
    ORDER BY message.said_at, message.id
  }
