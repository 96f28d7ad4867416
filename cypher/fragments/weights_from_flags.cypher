// Compute the weight of memories again from the flags on their messages, and hand it on to the links that
// go out from them. Returns links, maps {from_id, to_id, type}; reweighted: the memories whose weight, or that of
// a link of theirs, has changed.

CALL (memories) {
  UNWIND memories AS memory
  WITH
    memory,
    reduce(
      weight = coalesce(memory.own_modifier, 1.0),
      // fragment: flag_factors
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
      // end: flag_factors
    ) AS weight
  WITH memory, weight, memory.weight_modifier <> weight AS moved
  SET
    memory.weight_modifier = weight,
    memory.minimized = weight < 1
  WITH memory, moved
  OPTIONAL MATCH
    (memory)
      // fragment: link_types
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
      (other)
  WITH memory, moved, link, other, link.weight_modifier <> memory.weight_modifier AS link_moved
  SET link.weight_modifier = memory.weight_modifier
  RETURN
    collect(
      CASE WHEN link IS NOT NULL
        THEN {from_id: memory.id, to_id: other.id, type: type(link)}
      END
    ) AS links,
    collect(DISTINCT CASE WHEN moved OR link_moved THEN memory END) +
      collect(DISTINCT CASE WHEN link_moved THEN other END) AS reweighted
}
