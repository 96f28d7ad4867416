// Give memories the due dates they had before a reschedule, which the next run does again.
//
// $tenant_id   string
// $persona_id  string
// $run_id      string
// $place       integer, of the step that rescheduled them
// $never       zoned datetime that stands for none
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
MATCH (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
REMOVE persona.rescheduled_version
WITH step
UNWIND range(0, size(step.memory_ids) - 1) AS position
MATCH (memory:Memory {tenant_id: $tenant_id, id: step.memory_ids[position]})
SET
  memory.fades_at = CASE WHEN step.fades_before[position] <> $never THEN step.fades_before[position] END,
  memory.prune_at = CASE WHEN step.prune_before[position] <> $never THEN step.prune_before[position] END
