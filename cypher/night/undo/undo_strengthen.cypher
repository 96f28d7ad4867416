// Give links the strength they had before a step, unless it was changed since.
//
// $tenant_id  string
// $run_id     string
// $place      integer, of the step that strengthened them
//
// Returns kept: maps {from_id, to_id, type}, of those that have changed since; changed_ids: the ids of the ends of
// the others.
CYPHER 25
MATCH (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
// Each list is read once here, not once for every row.
WITH
  step.memory_ids AS memory_ids,
  step.stirred_before AS stirred_before,
  step.from_places AS from_places,
  step.to_ids AS to_ids,
  step.types AS types,
  step.strength_before AS strength_before,
  step.strength_after AS strength_after
CALL (memory_ids, stirred_before) {
  UNWIND range(0, size(memory_ids) - 1) AS position
  MATCH (memory:Memory {tenant_id: $tenant_id, id: memory_ids[position]})
  WHERE memory.stirred_at IS NULL
  SET memory.stirred_at = stirred_before[position]
}
CALL (memory_ids, from_places, to_ids, types, strength_before, strength_after) {
  UNWIND range(0, size(to_ids) - 1) AS position
  MATCH
    (source:Memory {tenant_id: $tenant_id, id: memory_ids[from_places[position]]})
      -[link:$(types[position])]->
    (target:Memory {tenant_id: $tenant_id, id: to_ids[position]})
  WITH
    link,
    strength_before[position] AS before,
    link.strength = strength_after[position] AS same,
    {from_id: source.id, to_id: target.id, type: type(link)} AS changed_link
  SET link.strength = CASE WHEN same THEN before ELSE link.strength END
  UNWIND CASE WHEN same THEN [changed_link.from_id, changed_link.to_id] ELSE [null] END AS changed_id
  RETURN
    collect(CASE WHEN NOT same THEN changed_link END) AS kept,
    collect(DISTINCT changed_id) AS changed_ids
}
RETURN kept, changed_ids
