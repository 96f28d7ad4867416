// Strengthen the links that were used since the last night, from some memories on.
// Those are taken off the list of stirred memories in the same breath, so each is done once.
//
// $tenant_id   string
// $persona_id  string
// $run_id      string
// $place       integer, of the step that is written down
// $since       zoned datetime
// $limit       integer, memories
// $figures     map of maps, the policy by type/category and by type
//
// Returns memories: how many were taken; links: how many links were strengthened.
CYPHER 25
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
CALL () {
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, stirred_at)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.stirred_at IS NOT NULL
  WITH memory
  LIMIT $limit
  // The lock before the look: its links may just be used.
  SET memory.lock = true
  REMOVE memory.lock
  WITH memory
  WHERE memory.stirred_at IS NOT NULL
  RETURN
    collect(memory) AS memories,
    collect(memory.id) AS memory_ids,
    collect(memory.stirred_at) AS stirred_before
}
CALL (run, memories) {
  WITH memories, run.as_of AS as_of
  UNWIND range(0, size(memories) - 1) AS at
  WITH at, memories[at] AS memory, as_of
  WITH
    at,
    memory,
    as_of,
    // fragment: figures_of_memory
    coalesce(
      $figures[memory.memory_type + '/' + memory.category],
      $figures[memory.memory_type]
    ) AS figures
    // end: figures_of_memory
  WITH *, as_of - duration({hours: figures.strengthen_hours}) AS first
  WITH
    at,
    memory,
    figures.strengthen_below AS below,
    figures.strengthen_rate AS rate,
    // No farther back than the policy looks, and not twice over what the last night has seen.
    CASE WHEN $since > first THEN $since ELSE first END AS since
  // Links of these types go to memories only; asking each for its label would read it once more.
  MATCH
    (memory)
      // fragment: link_types
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
    (other)
  WHERE link.coactivated_at > since
  SET link.lock = true
  REMOVE link.lock
  // As one map, since a property that is named may have been read ahead of the lock.
  WITH at, link, other.id AS to_id, properties(link).strength AS before, below, rate
  WHERE before < below
  WITH *, before + (1 - before) * rate AS after
  RETURN
    collect(link) AS links,
    // A place in memory_ids: a few bits of a number instead of an id for every link.
    collect(at) AS from_places,
    collect(to_id) AS to_ids,
    collect(type(link)) AS types,
    collect(before) AS strength_before,
    collect(after) AS strength_after
}
FOREACH (at IN range(0, size(links) - 1) |
  SET (links[at]).strength = strength_after[at]
)
FOREACH (memory IN memories |
  REMOVE memory.stirred_at
)
FOREACH (done IN CASE WHEN memories = [] THEN [] ELSE [1] END |
  CREATE
    (run)-[:DID]->(:Step {
      tenant_id: $tenant_id,
      run_id: $run_id,
      place: $place,
      stage: 'strengthen',
      kind: 'strengthened',
      memory_ids: memory_ids,
      stirred_before: stirred_before,
      from_places: from_places,
      to_ids: to_ids,
      types: types,
      strength_before: strength_before,
      strength_after: strength_after
    })
)
RETURN size(memory_ids) AS memories, size(links) AS links
