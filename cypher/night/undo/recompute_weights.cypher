// Compute the weights of memories that have lost some of their sources again, from the flags on the others.
//
// $tenant_id  string
// $ids        list of strings
//
// Returns id of each whose weight or flag, or the weight of a link of which, has changed.
CYPHER 25
UNWIND $ids AS id
MATCH (memory:Memory {tenant_id: $tenant_id, id: id})
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
WITH memory, weight, memory {.weight_modifier, .flagged} AS before
SET
  memory.weight_modifier = weight,
  memory.minimized = weight < 1,
  memory.flagged =
    coalesce(memory.own_flagged, false) OR
    EXISTS { (memory)-[:DRAWN_FROM]->(:Message {flagged: true, persona_id: memory.persona_id}) }
WITH memory, memory {.weight_modifier, .flagged} <> before AS moved
OPTIONAL MATCH
  // fragment: link_types
  (memory)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->(other)
WITH memory, moved, link, other, link.weight_modifier <> memory.weight_modifier AS link_moved
SET link.weight_modifier = memory.weight_modifier
UNWIND
  CASE
    WHEN link_moved THEN [memory.id, other.id]
    WHEN moved THEN [memory.id]
    ELSE []
  END AS id
RETURN DISTINCT id
