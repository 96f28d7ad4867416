// Archive some memories that were never used. They can be brought back.
//
// $tenant_id   string
// $persona_id  string
// $run_id      string
// $place       integer, of the step that is recorded
// $as_of       zoned datetime
// $limit       integer, memories
//
// Returns memories: how many were read; archived: ids of those that were archived. One that was used or pinned
// since it was chosen is not.
CYPHER 25
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
CALL () {
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, awaits, said_at, id)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.awaits = 'archive' AND
    memory.said_at IS NOT NULL AND
    memory.id IS NOT NULL // an index is used only if the condition names all its properties
  WITH memory
  LIMIT $limit
  REMOVE memory.awaits
  WITH memory, memory.access_count = 0 AND NOT memory.pinned AND memory.state = 'active' AS unused
  SET memory.fades_at = CASE WHEN NOT unused THEN $as_of END
  WITH collect(memory) AS memories, collect(CASE WHEN unused THEN memory END) AS unused
  CALL (unused) {
    UNWIND unused AS memory
    WITH memory, memory.salience AS salience
    SET
      memory.state = 'archived',
      memory.archived_at = $as_of,
      memory.salience = salience / 2
    RETURN collect(memory.id) AS archived_ids, collect(salience) AS salience_before
  }
  RETURN memories, archived_ids, salience_before
}
FOREACH (done IN CASE WHEN memories = [] THEN [] ELSE [1] END |
  CREATE
    (run)-[:DID]->(:Step {
      tenant_id: $tenant_id,
      run_id: $run_id,
      place: $place,
      stage: 'archive',
      kind: 'archived',
      waiting_ids: [memory IN memories | memory.id],
      memory_ids: archived_ids,
      salience_before: salience_before
    })
)
RETURN size(memories) AS memories, archived_ids AS archived
