// Strengthen the links of some memories that were used since the last night. The memories lose their mark in
// the same transaction, so that each is done once.
//
// $tenant_id      string
// $persona_id     string
// $run_id         string
// $place          integer, of the step that is recorded
// $since          zoned datetime
// $limit          integer, memories
// $changed_limit  integer, ids that are returned
// $figures        map of maps: the policy's figures by `type/category` and by type
//
// Returns memories: how many were taken; links: how many links were strengthened; changed_ids: the ids of their
// ends, up to the limit.
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
  // Lock before reading: its links may just be used.
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
  UNWIND range(0, size(memories) - 1) AS position
  WITH position, memories[position] AS memory, as_of
  WITH
    position,
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
    position,
    memory,
    figures.strengthen_below AS below,
    figures.strengthen_rate AS rate,
    // Not longer ago than the policy says, and nothing that the last night has counted.
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
  // Read as one map: a property that is named may have been read before the lock.
  WITH position, link, other.id AS to_id, properties(link).strength AS before, below, rate
  WHERE before < below
  WITH *, before + (1 - before) * rate AS after
  RETURN
    collect(link) AS links,
    // A position in memory_ids takes less room than an id for every link.
    collect(position) AS from_places,
    collect(to_id) AS to_ids,
    collect(type(link)) AS types,
    collect(before) AS strength_before,
    collect(after) AS strength_after
}
FOREACH (position IN range(0, size(links) - 1) |
  SET (links[position]).strength = strength_after[position]
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
CALL (memory_ids, from_places, to_ids) {
  UNWIND [position IN from_places | memory_ids[position]] + to_ids AS id
  WITH DISTINCT id
  LIMIT $changed_limit
  RETURN collect(id) AS changed_ids
}
RETURN size(memory_ids) AS memories, size(links) AS links, changed_ids
