// Delete the weak links of some memories that nobody has used for long. Truly: a weak link is noise.
// A link of a pinned memory stays, and a minimized link is judged by its strength alone.
//
// $tenant_id   string
// $persona_id  string
// $as_of       zoned datetime
// $limit       integer, memories
// $figures     map of maps, the policy by type/category and by type
//
// Returns memory_id; before: when it was to be looked at; links: maps {from_id, to_id, type,
// properties}, of those that are gone; pinned: how many only a pin has kept.
CYPHER 25
MATCH (memory:Memory)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.prune_at <= $as_of
WITH
  memory,
  coalesce(
    $figures[memory.memory_type + '/' + memory.category],
    $figures[memory.memory_type]
  ) AS figures
LIMIT $limit
CALL (memory, figures) {
  OPTIONAL MATCH
    (memory)
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
    (other:Memory)
  WHERE link.strength < figures.prune_below
  WITH
    memory,
    link,
    other,
    link.coactivated_at + duration({seconds: toInteger(figures.prune_days * 86400)}) AS due_at
  WITH
    memory,
    link,
    other,
    due_at,
    link IS NOT NULL AND coalesce(due_at <= $as_of, true) AS due,
    memory.pinned OR coalesce(other.pinned, false) AS pinned
  WITH *, due AND NOT pinned AS gone
  RETURN
    collect(CASE WHEN gone THEN link END) AS weak,
    collect(
      CASE WHEN gone
        THEN {
          from_id: memory.id,
          to_id: other.id,
          type: type(link),
          properties: properties(link)
        }
      END
    ) AS links,
    // What is left to look at: links that were used, and those that only a pin keeps.
    min(CASE WHEN link IS NOT NULL AND NOT gone
      THEN CASE WHEN due_at > $as_of THEN due_at ELSE $as_of + duration({days: 1}) END
    END) AS next_at,
    sum(CASE WHEN due AND pinned THEN 1 ELSE 0 END) AS pinned
}
WITH memory, weak, links, next_at, pinned, memory.prune_at AS before
SET memory.prune_at = next_at
FOREACH (link IN weak | DELETE link)
RETURN memory.id AS memory_id, before, links, pinned
