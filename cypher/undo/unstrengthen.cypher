// Links are as strong as they were, unless somebody has strengthened them since.
//
// $tenant_id  string
// $run_id     string
// $place      integer, of the step that strengthened them
//
// Returns kept: maps {from_id, to_id, type}, of those that have changed since.
CYPHER 25
MATCH (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
CALL (step) {
  UNWIND range(0, size(step.memory_ids) - 1) AS at
  MATCH (memory:Memory {tenant_id: $tenant_id, id: step.memory_ids[at]})
  WHERE memory.stirred_at IS NULL
  SET memory.stirred_at = step.stirred_before[at]
}
CALL (step) {
  UNWIND range(0, size(step.from_ids) - 1) AS at
  MATCH
    (source:Memory {tenant_id: $tenant_id, id: step.from_ids[at]})
      -[link:$(step.types[at])]->
    (target:Memory {tenant_id: $tenant_id, id: step.to_ids[at]})
  WITH
    link,
    step.strength_before[at] AS before,
    link.strength = step.strength_after[at] AS same,
    {from_id: source.id, to_id: target.id, type: type(link)} AS told
  SET link.strength = CASE WHEN same THEN before ELSE link.strength END
  RETURN collect(CASE WHEN NOT same THEN told END) AS kept
}
RETURN kept
