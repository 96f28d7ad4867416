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
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.stirred_at IS NOT NULL
  WITH memory
  LIMIT $limit
  RETURN
    collect(memory) AS memories,
    collect(memory.id) AS memory_ids,
    collect(memory.stirred_at) AS stirred_before
}
CALL (run, memories) {
  UNWIND memories AS memory
  WITH
    run,
    memory,
    coalesce(
      $figures[memory.memory_type + '/' + memory.category],
      $figures[memory.memory_type]
    ) AS figures
  WITH
    memory,
    figures.strengthen_below AS below,
    figures.strengthen_rate AS rate,
    // No farther back than the policy looks, and not twice over what the last night has seen.
    CASE WHEN $since > run.as_of - duration({hours: figures.strengthen_hours})
      THEN $since
      ELSE run.as_of - duration({hours: figures.strengthen_hours})
    END AS since
  MATCH
    (memory)
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
    (other:Memory)
  WHERE
    link.coactivated_at > since AND
    link.strength < below
  WITH memory, link, other, link.strength AS before, rate
  SET link.strength = before + (1 - before) * rate
  RETURN
    collect(memory.id) AS from_ids,
    collect(other.id) AS to_ids,
    collect(type(link)) AS types,
    collect(before) AS strength_before,
    collect(link.strength) AS strength_after
}
CALL (memories) {
  UNWIND memories AS memory
  REMOVE memory.stirred_at
}
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
      from_ids: from_ids,
      to_ids: to_ids,
      types: types,
      strength_before: strength_before,
      strength_after: strength_after
    })
)
RETURN size(memory_ids) AS memories, size(from_ids) AS links
