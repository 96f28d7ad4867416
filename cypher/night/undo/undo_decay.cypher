// Give memories the importance they had before a step, unless it was changed since.
//
// $tenant_id  string
// $run_id     string
// $place      integer, of the step that lowered them
//
// Returns kept: ids of those that have changed since; changed_ids: ids of those whose importance is another now.
CYPHER 25
MATCH (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
CALL (step) {
  UNWIND range(0, size(step.memory_ids) - 1) AS position
  MATCH (memory:Memory {tenant_id: $tenant_id, id: step.memory_ids[position]})
  WITH
    memory,
    step.importance_before[position] AS before,
    memory.importance AS now_before,
    step.fades_before[position] AS fades_at,
    memory.importance = step.importance_after[position] AS same
  SET
    memory.importance = CASE WHEN same THEN before ELSE memory.importance END,
    memory.fades_at = fades_at
  REMOVE memory.awaits
  RETURN
    collect(CASE WHEN NOT same THEN memory.id END) AS kept,
    collect(CASE WHEN memory.importance <> now_before THEN memory.id END) AS changed_ids
}
RETURN kept, changed_ids
