// Links that were pruned are back, with all they had.
//
// $tenant_id  string
// $run_id     string
// $place      integer, of the step that pruned them
CYPHER 25
MATCH (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
CALL (step) {
  WITH step.memory_ids AS memory_ids, step.prune_before AS prune_before
  UNWIND range(0, size(memory_ids) - 1) AS at
  MATCH (memory:Memory {tenant_id: $tenant_id, id: memory_ids[at]})
  SET memory.prune_at = prune_before[at]
}
CALL (step) {
  WITH
    step.memory_ids AS memory_ids,
    step.from_places AS from_places,
    step.to_ids AS to_ids,
    step.types AS types
  UNWIND range(0, size(to_ids) - 1) AS at
  MATCH (source:Memory {tenant_id: $tenant_id, id: memory_ids[from_places[at]]})
  MATCH (target:Memory {tenant_id: $tenant_id, id: to_ids[at]})
  WHERE NOT EXISTS { (source)-[:$(types[at])]->(target) }
  CREATE (source)-[link:$(types[at])]->(target)
  RETURN collect({link: link, at: at}) AS back
}
UNWIND step.names AS name
WITH back, name, step['has_' + name] AS has, step['all_' + name] AS told
UNWIND back AS it
WITH name, it.link AS link, has[it.at] AS had, told[it.at] AS value
SET link[name] = CASE WHEN had THEN value END
