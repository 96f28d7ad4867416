// Make some memories due now for decay and pruning, since the policy has changed.
//
// $tenant_id   string
// $persona_id  string
// $run_id      string
// $place       integer, of the step that is recorded
// $as_of       zoned datetime
// $after       string, the last id of the previous batch, or ''
// $limit       integer, memories
// $never       zoned datetime that stands for none
//
// Returns memories: how many were made due; last: the id of the last of them.
CYPHER 25
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
CALL () {
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, id)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state = 'active' AND
    memory.id > $after
  WITH memory
  // Ordered by all properties of the index, so that it is read in its order and only up to the limit.
  ORDER BY memory.tenant_id, memory.persona_id, memory.state, memory.id
  LIMIT $limit
  WITH
    memory,
    coalesce(memory.fades_at, $never) AS fades_at,
    coalesce(memory.prune_at, $never) AS prune_at
  SET
    memory.fades_at = $as_of,
    memory.prune_at = $as_of
  RETURN
    collect(memory.id) AS memory_ids,
    collect(fades_at) AS fades_before,
    collect(prune_at) AS prune_before
}
FOREACH (done IN CASE WHEN memory_ids = [] THEN [] ELSE [1] END |
  CREATE
    (run)-[:DID]->(:Step {
      tenant_id: $tenant_id,
      run_id: $run_id,
      place: $place,
      stage: 'reschedule',
      kind: 'rescheduled',
      memory_ids: memory_ids,
      fades_before: fades_before,
      prune_before: prune_before
    })
)
RETURN size(memory_ids) AS memories, memory_ids[-1] AS last
