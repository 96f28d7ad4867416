// Turn memories into candidates again, as they were.
//
// $tenant_id   string
// $persona_id  string
// $ids         list of strings
//
// Returns id; links: how many links were deleted with it; linked_ids: ids of the memories these went to or came
// from.
CYPHER 25
UNWIND $ids AS id
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
  -[remembers:REMEMBERS]->(memory:Memory {tenant_id: $tenant_id, id: id})
CALL (memory) {
  OPTIONAL MATCH
    // fragment: link_types
    (memory)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(other:Memory)
  WITH link, other.id AS other_id
  DELETE link
  RETURN count(link) AS links, collect(DISTINCT other_id) AS linked_ids
}
CALL (memory) {
  // The shapes that spoke of it were withdrawn before.
  MATCH (memory)-[shaped:SHAPED_INTO]->()
  DELETE shaped
}
CALL (memory) {
  MATCH (memory)-[:DRAWN_FROM]->(message:Message)<-[:FLAGS]-(flag:Flag)
  WHERE flag.reversed_at IS NULL AND message.persona_id = memory.persona_id
  RETURN min(flag.flagged_at) AS flagged_at
}
// fragment: deleted_recalls (item → memory)
CALL (memory) {
  MATCH (recall:Recall)-[:RECALLED]->(memory)
  DETACH DELETE recall
}
// end: deleted_recalls
DELETE remembers
CREATE (persona)-[:CONSIDERS]->(memory)
REMOVE
  memory:Memory:Episodic:Semantic:Somatic,
  memory.formed_at,
  memory.importance,
  memory.idle_importance,
  memory.idle_since,
  memory.fades_at,
  memory.prune_at,
  memory.stirred_at,
  memory.salience,
  memory.salience_at,
  memory.uses_on,
  memory.uses_today,
  memory.access_count,
  memory.accessed_at,
  memory.reinforcements,
  memory.weight_modifier,
  memory.own_modifier,
  memory.pinned,
  memory.awaits,
  memory.archived_at,
  memory.valid_from,
  memory.valid_to
SET
  memory:Candidate,
  memory.state = CASE WHEN memory.flagged THEN 'suppressed' ELSE 'pending' END,
  memory.deprioritized_at = flagged_at,
  memory.minimized = false
RETURN memory.id AS id, links, linked_ids
