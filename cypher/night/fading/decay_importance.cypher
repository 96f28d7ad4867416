// Lower the importance of some memories by how long they were not used. The result follows from when a memory
// was used last, so doing it again, or late, gives the same.
//
// $tenant_id      string
// $persona_id     string
// $run_id         string
// $place          integer, of the step that is recorded
// $as_of          zoned datetime
// $limit          integer, memories
// $changed_limit  integer, ids that are returned
// $figures        map of maps: the policy's figures by `type/category` and by type
//
// Returns memories: how many were read; decayed: how many have lost importance; changed_ids: the ids of these, up
// to the limit.
CYPHER 25
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
CALL () {
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, fades_at)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.fades_at <= $as_of
  WITH memory
  LIMIT $limit
  // Lock before reading: it may just be used, pinned or given another importance.
  SET memory.lock = true
  REMOVE memory.lock
  // Read as one map: property by property takes twice as long.
  WITH
    memory,
    memory {
      .id,
      .memory_type,
      .category,
      .state,
      .pinned,
      .importance,
      .idle_importance,
      .idle_since,
      .access_count,
      .formed_at,
      .copied_at
    } AS stored
  WITH
    memory,
    stored,
    stored.id AS id,
    stored.importance AS importance,
    memory.fades_at AS fades_at,
    coalesce($figures[stored.memory_type + '/' + stored.category], $figures[stored.memory_type]) AS figures
  WITH
    *,
    NOT stored.pinned AND stored.state = 'active' AS can_fade,
    toInteger(
      ($as_of.epochMillis - stored.idle_since.epochMillis) / (86400000.0 * figures.decay_days)
    ) AS periods
  WITH
    *,
    CASE
      WHEN NOT can_fade OR periods < 1 OR importance <= 1 THEN importance
      WHEN figures.decay_curve = 'linear'
        THEN stored.idle_importance - figures.decay_step * periods
      WHEN figures.decay_curve = 'exponential'
        THEN toInteger(stored.idle_importance * (1 - figures.decay_rate) ^ periods + 0.5)
      WHEN figures.decay_curve = 'power'
        THEN toInteger(stored.idle_importance * (1 + periods) ^ -figures.decay_exponent + 0.5)
      ELSE importance
    END AS faded
  WITH
    *,
    CASE
      WHEN faded >= importance THEN importance
      WHEN faded < 1 THEN 1
      ELSE faded
    END AS new_importance
  WITH
    *,
    CASE
      WHEN can_fade AND new_importance <= figures.archive_importance AND stored.access_count = 0
        // A copied persona has not used anything yet: its memories get their full time again.
        THEN coalesce(stored.copied_at, stored.formed_at) +
          duration({seconds: toInteger(figures.archive_days * 86400)})
    END AS archive_at,
    CASE
      WHEN can_fade AND new_importance > 1 AND figures.decay_curve <> 'none'
        THEN stored.idle_since +
          duration({seconds: toInteger((periods + 1) * figures.decay_days * 86400)})
    END AS next_at
  WITH *, coalesce(archive_at <= $as_of, false) AS is_archive_due
  SET memory.importance = new_importance
  // Not in the same SET: together they are checked against every index of a memory.
  SET
    memory.fades_at =
      CASE
        WHEN is_archive_due THEN null
        WHEN next_at IS NULL OR archive_at < next_at THEN archive_at
        ELSE next_at
      END
  FOREACH (due IN CASE WHEN is_archive_due THEN [memory] ELSE [] END |
    SET due.awaits = 'archive'
  )
  RETURN
    collect(id) AS memory_ids,
    collect(importance) AS importance_before,
    collect(new_importance) AS importance_after,
    collect(fades_at) AS fades_before,
    collect(CASE WHEN new_importance < importance THEN id END) AS decayed_ids
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
RETURN
  size(memory_ids) AS memories,
  size(decayed_ids) AS decayed,
  decayed_ids[..$changed_limit] AS changed_ids
