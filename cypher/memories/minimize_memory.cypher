// Turn a memory and its outgoing links down by hand, or up again. Flags on its messages hold beside it.
//
// $tenant_id  string
// $memory_id  string
// $modifier   float: what is left of its weight; 1 for all of it
// $factor     float: what one flag leaves of it
// $event      map {id, action, by, at}
//
// Returns before, after: the weight; links: how many went with it. Nothing when there is no such memory.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
SET memory.lock = true
REMOVE memory.lock
WITH
  memory,
  memory.weight_modifier AS before,
  $modifier *
    $factor ^
      COUNT {
        MATCH (memory)-[:DRAWN_FROM]->(message:Message)<-[:FLAGS]-(flag:Flag)
        WHERE flag.reversed_at IS NULL AND message.persona_id = memory.persona_id
        RETURN DISTINCT flag.act
      } AS after
SET
  memory.own_modifier = CASE WHEN $modifier < 1 THEN $modifier END,
  // What a duplicate had inherited is taken back with it.
  memory.own_flagged = CASE WHEN $modifier < 1 THEN memory.own_flagged END,
  memory.flagged =
    ($modifier < 1 AND coalesce(memory.own_flagged, false)) OR
    EXISTS { (memory)-[:DRAWN_FROM]->(:Message {flagged: true, persona_id: memory.persona_id}) },
  memory.weight_modifier = after,
  memory.minimized = after < 1
CREATE
  (:Event {
    tenant_id: $tenant_id,
    id: $event.id,
    action: $event.action,
    by: $event.by,
    at: $event.at,
    before: toString(before),
    after: toString(after)
  })-[:ABOUT]->(memory)
WITH memory, before, after
OPTIONAL MATCH
  (memory)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->()
SET link.weight_modifier = after
RETURN before, after, count(link) AS links
