// What has happened to a memory: what people did to it and to the messages it came from, and the steps
// of runs that name it.
//
// $tenant_id  string
// $memory_id  string
//
// Returns events, maps; steps, maps with run_id, started_by and as_of of their run. Nothing when there is
// no such memory.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
RETURN
  COLLECT {
    MATCH (memory)-[:DRAWN_FROM*0..1]->(about)<-[:ABOUT]-(event:Event)
    WITH DISTINCT event
    RETURN event {.*}
    ORDER BY event.id
  } AS events,
  COLLECT {
    MATCH
      (:Persona {tenant_id: $tenant_id, id: memory.persona_id})-[:SLEPT]->(run:Run)-[:DID]->(step)
    WHERE
      run.state <> 'undone' AND
      ($memory_id IN coalesce(step.memory_ids, []) OR
        $memory_id IN coalesce(step.from_ids, []) OR
        $memory_id IN coalesce(step.to_ids, []) OR
        coalesce(step.changes, '') CONTAINS $memory_id)
    RETURN step {.*, run_id: run.id, started_by: run.started_by, as_of: run.as_of}
    ORDER BY step.run_id, step.place
  } AS steps
