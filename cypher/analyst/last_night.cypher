// What the last night of a persona did: its steps in their order, and the memories each was about.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer, of the memories of a step
//
// Returns night: its day; stage; did: counts, as JSON; texts; run, step and memories, for the graph.
CYPHER 25
MATCH (:Persona {tenant_id: $tenant_id, id: $persona_id})-[:SLEPT]->(run:Run)
WHERE run.kind = 'night' AND run.state = 'done'
WITH run
ORDER BY run.as_of DESC
LIMIT 1
MATCH (run)-[:DID]->(step:Step)
// A step names its memories in lists, or inside of JSON: "id": "…", "memory_id": "…", "from_id": "…".
WITH
  run,
  step,
  coalesce(step.memory_ids, []) + [
    part IN split(coalesce(step.changes, ''), 'id": "')[1..] |
      split(part, '"')[0]
  ] AS ids
CALL (ids) {
  UNWIND ids AS id
  WITH DISTINCT id
  MATCH (memory:Memory {tenant_id: $tenant_id, id: id})
  WITH memory
  ORDER BY memory.said_at, memory.id
  LIMIT $limit
  RETURN collect(memory) AS memories
}
RETURN
  run.period AS night,
  step.stage AS stage,
  step.did AS did,
  [memory IN memories | memory.text] AS texts,
  run,
  step,
  memories
ORDER BY step.place
