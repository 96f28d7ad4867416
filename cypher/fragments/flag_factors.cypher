// Inside reduce(weight = …, …): what the flags on a memory's messages leave of its weight. Each act counts
// once, with the smallest of the factors its flags were given when they were set.

factor IN
  COLLECT {
    MATCH (memory)-[:DRAWN_FROM]->(message:Message)<-[:FLAGS]-(flag:Flag)
    WHERE flag.reversed_at IS NULL AND message.persona_id = memory.persona_id
    WITH
      flag.act AS act,
      min(
        coalesce(
          [
            place IN range(0, size(flag.factor_of) - 1)
            WHERE flag.factor_of[place] = memory.memory_type + '/' + memory.category |
            flag.factors[place]
          ][0],
          [
            place IN range(0, size(flag.factor_of) - 1)
            WHERE flag.factor_of[place] = memory.memory_type |
            flag.factors[place]
          ][0],
          flag.factor
        )
      ) AS factor
    RETURN factor
    ORDER BY act
  } |
weight * factor
