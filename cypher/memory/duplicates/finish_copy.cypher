// Make a copied persona visible. Flags set or taken back while it was made, and people the source has met, are
// carried over first.
//
// $tenant_id      string
// $persona_id     string
// $copy_id        string
// $worker         string
// $next_night_at  zoned datetime
//
// Returns id; nothing when another worker holds the source persona.
CYPHER 25
MATCH (source:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE source.run_worker = $worker
MATCH (copy:Persona {tenant_id: $tenant_id, id: $copy_id})
WHERE copy.copying IS NOT NULL
REMOVE source.run_worker, source.run_until, copy.copying
SET
  copy.people = source.people,
  copy.next_night_at = $next_night_at
WITH copy
CALL () {
  MATCH (memory:Memory)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state IS NOT NULL
  MATCH (copied:Memory {tenant_id: $tenant_id, persona_id: $copy_id, copied_from: memory.id})
  WHERE copied.weight_modifier <> memory.weight_modifier OR copied.flagged <> memory.flagged
  SET
    copied.weight_modifier = memory.weight_modifier,
    copied.own_modifier = memory.weight_modifier,
    copied.minimized = memory.minimized,
    copied.flagged = memory.flagged,
    copied.own_flagged = CASE WHEN memory.flagged THEN true END
  WITH copied
  OPTIONAL MATCH
    // fragment: link_types
    (copied)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->()
  SET link.weight_modifier = copied.weight_modifier
  RETURN count(link) AS links
}
RETURN copy.id AS id
