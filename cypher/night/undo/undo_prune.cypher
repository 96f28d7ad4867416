// Restore the links that a step has pruned, with all their properties.
//
// $tenant_id  string
// $run_id     string
// $place      integer, of the step that pruned them
//
// Returns id of each memory that has such a link.
CYPHER 25
MATCH (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
CALL (step) {
  WITH step.memory_ids AS memory_ids, step.prune_before AS prune_before
  UNWIND range(0, size(memory_ids) - 1) AS position
  MATCH (memory:Memory {tenant_id: $tenant_id, id: memory_ids[position]})
  SET memory.prune_at = prune_before[position]
}
CALL (step) {
  WITH
    step.memory_ids AS memory_ids,
    step.from_places AS from_places,
    step.to_ids AS to_ids,
    step.types AS types
  UNWIND range(0, size(to_ids) - 1) AS position
  MATCH (source:Memory {tenant_id: $tenant_id, id: memory_ids[from_places[position]]})
  MATCH (target:Memory {tenant_id: $tenant_id, id: to_ids[position]})
  WHERE NOT EXISTS { (source)-[:$(types[position])]->(target) }
  CREATE (source)-[link:$(types[position])]->(target)
  RETURN collect({link: link, position: position}) AS restored
}
UNWIND step.names AS name
WITH restored, name, step['has_' + name] AS has, step['all_' + name] AS values
UNWIND restored AS entry
WITH name, entry.link AS link, has[entry.position] AS had, values[entry.position] AS value
SET link[name] = CASE WHEN had THEN value END
WITH DISTINCT link
UNWIND [startNode(link).id, endNode(link).id] AS id
RETURN DISTINCT id
