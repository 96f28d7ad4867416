// Memories that have lost some of their sources are turned down by the flags on those that are left.
//
// $tenant_id  string
// $rows       list of maps {id, acts: how many flagged it before}
CYPHER 25
UNWIND $rows AS row
MATCH (memory:Memory {tenant_id: $tenant_id, id: row.id})
WITH
  memory,
  row.acts AS before,
  coalesce(memory.own_modifier, 1.0) AS own,
  COUNT {
    MATCH (memory)-[:DRAWN_FROM]->(message:Message)<-[:FLAGS]-(flag:Flag)
    WHERE flag.reversed_at IS NULL AND message.persona_id = memory.persona_id
    RETURN DISTINCT flag.act
  } AS acts
WHERE acts < before
SET
  // Each act has left the same share of it, so what the others leave follows from what all left.
  memory.weight_modifier =
    CASE
      WHEN acts = 0 OR own = 0 THEN own
      ELSE own * (memory.weight_modifier / own) ^ (toFloat(acts) / before)
    END,
  memory.flagged = coalesce(memory.own_flagged, false) OR acts > 0
SET memory.minimized = memory.weight_modifier < 1
WITH memory
MATCH (memory)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->()
SET link.weight_modifier = memory.weight_modifier
