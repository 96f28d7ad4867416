// Lower the importance of some memories that were not used, by how long they were not. What comes
// out follows from when a memory was used last, so doing it again, or late, gives the same.
//
// $tenant_id   string
// $persona_id  string
// $run_id      string
// $place       integer, of the step that is written down
// $as_of       zoned datetime
// $limit       integer, memories
// $figures     map of maps, the policy by type/category and by type
//
// Returns memories: how many were looked at; decayed: how many have lost importance.
CYPHER 25
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
CALL () {
  MATCH (memory:Memory)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.fades_at <= $as_of
  WITH memory
  LIMIT $limit
  WITH
    memory,
    memory.importance AS importance,
    memory.fades_at AS fades_at,
    coalesce(
      $figures[memory.memory_type + '/' + memory.category],
      $figures[memory.memory_type]
    ) AS figures
  WITH
    *,
    NOT memory.pinned AND memory.state = 'active' AS can_fade,
    toInteger(
      ($as_of.epochMillis - memory.idle_since.epochMillis) / (86400000.0 * figures.decay_days)
    ) AS periods
  WITH
    *,
    CASE
      WHEN NOT can_fade OR periods < 1 OR importance <= 1 THEN importance
      WHEN figures.decay_curve = 'linear'
        THEN memory.idle_importance - figures.decay_step * periods
      WHEN figures.decay_curve = 'exponential'
        THEN toInteger(memory.idle_importance * (1 - figures.decay_rate) ^ periods + 0.5)
      WHEN figures.decay_curve = 'power'
        THEN toInteger(memory.idle_importance * (1 + periods) ^ -figures.decay_exponent + 0.5)
      ELSE importance
    END AS faded
  WITH
    *,
    CASE
      WHEN faded >= importance THEN importance
      WHEN faded < 1 THEN 1
      ELSE faded
    END AS left
  WITH
    *,
    can_fade AND
    left <= figures.archive_importance AND
    memory.access_count = 0 AS forsaken,
    // A copied persona has not used anything yet: its memories get their time anew.
    coalesce(memory.copied_at, memory.formed_at) +
    duration({seconds: toInteger(figures.archive_days * 86400)}) AS archive_at
  WITH
    *,
    forsaken AND archive_at <= $as_of AS leaves,
    CASE
      WHEN NOT can_fade THEN null
      WHEN left > 1 AND figures.decay_curve <> 'none'
        THEN memory.idle_since +
          duration({seconds: toInteger((periods + 1) * figures.decay_days * 86400)})
    END AS next_at
  SET
    memory.importance = left,
    memory.awaits = CASE WHEN leaves THEN 'archive' END,
    memory.fades_at =
      CASE
        WHEN leaves THEN null
        WHEN forsaken AND (next_at IS NULL OR archive_at < next_at) THEN archive_at
        ELSE next_at
      END
  RETURN
    collect(memory.id) AS memory_ids,
    collect(importance) AS importance_before,
    collect(left) AS importance_after,
    collect(fades_at) AS fades_before,
    sum(CASE WHEN left < importance THEN 1 ELSE 0 END) AS decayed
}
FOREACH (done IN CASE WHEN memory_ids = [] THEN [] ELSE [1] END |
  CREATE
    (run)-[:DID]->(:Step {
      tenant_id: $tenant_id,
      run_id: $run_id,
      place: $place,
      stage: 'decay',
      kind: 'decayed',
      memory_ids: memory_ids,
      importance_before: importance_before,
      importance_after: importance_after,
      fades_before: fades_before
    })
)
RETURN size(memory_ids) AS memories, decayed
