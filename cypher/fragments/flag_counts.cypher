// How many acts of flagging hold a candidate or a memory down (acts), and how many of these a viewer may
// know of (shown_acts): their own, and all in an instance they are an admin of.

acts:
  COUNT {
    MATCH (item)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
    WHERE flag.reversed_at IS NULL AND message.persona_id = item.persona_id
    RETURN DISTINCT flag.act
  },
shown_acts:
  COUNT {
    MATCH (item)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
    WHERE
      flag.reversed_at IS NULL AND
      message.persona_id = item.persona_id AND
      ($viewer IS NULL OR
        flag.flagged_by = $viewer OR
        EXISTS {
          (message)<-[:CONTAINS]-()<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $viewer})
        })
    RETURN DISTINCT flag.act
  }
