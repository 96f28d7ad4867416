// Make memories that a step has archived active again.
//
// $tenant_id  string
// $run_id     string
// $place      integer, of the step that archived them
//
// Returns archived: ids of all that it archived; kept: ids of those that somebody had brought back already;
// changed_ids: ids of those that are active now.
CYPHER 25
MATCH (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
CALL (step) {
  UNWIND step.waiting_ids AS id
  MATCH (memory:Memory {tenant_id: $tenant_id, id: id})
  SET memory.awaits = 'archive'
  REMOVE memory.fades_at
}
CALL (step) {
  UNWIND range(0, size(step.memory_ids) - 1) AS position
  MATCH (memory:Memory {tenant_id: $tenant_id, id: step.memory_ids[position]})
  WITH memory, step.salience_before[position] AS salience, memory.state = 'archived' AS same
  SET
    memory.state = CASE WHEN same THEN 'active' ELSE memory.state END,
    memory.salience = CASE WHEN same THEN salience ELSE memory.salience END,
    // A shape that was withdrawn since is active when it is drawn again.
    memory.withdrawn_state = CASE WHEN memory.state = 'withdrawn' THEN 'active' END
  REMOVE memory.archived_at
  RETURN
    collect(CASE WHEN NOT same THEN memory.id END) AS kept,
    collect(CASE WHEN same THEN memory.id END) AS changed_ids
}
RETURN step.memory_ids AS archived, kept, changed_ids
