// The history of a memory: the newest events about it and the messages it was drawn from, and the newest steps
// of runs that changed it.
//
// $tenant_id     string
// $memory_id     string
// $quoted_id     string: the same between quotes, as it stands in the changes of a step
// $user_id       string or null: with a user, only if all its messages are in instances they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $viewer        string or null: with a user, of flags and their undos only those they did themselves,
//                those that took back a flag of theirs, and all in an instance they are an admin of
// $limit         integer: of events, and of steps
// $steps         integer: how many steps of its persona are read, the newest
//
// Returns events, maps, in the order in which they took effect; steps, maps with run_id, started_by and
// as_of of their run. Nothing when there is no such memory for this caller.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
WHERE
  // fragment: visible_item (item → memory)
  ($user_id IS NULL OR
    (EXISTS { (memory)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (memory)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      }))
  // end: visible_item
CALL (memory) {
  MATCH (memory)-[:DRAWN_FROM*0..1]->(about)<-[:ABOUT]-(event:Event)
  WHERE
    event.effect_of IS NULL AND
    // fragment: visible_event
    ($viewer IS NULL OR
      NOT event.action IN ['flagged', 'unflagged'] OR
      event.by = $viewer OR
      EXISTS {
        MATCH (about)<-[:FLAGS]-(flag:Flag)
        WHERE flag.reversed_in = event.id AND flag.flagged_by = $viewer
      } OR
      EXISTS {
        (about)<-[:CONTAINS]-()<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $viewer})
      })
    // end: visible_event
  WITH DISTINCT event
  ORDER BY event.written_at DESC, event.id DESC
  LIMIT $limit
  WITH event
  ORDER BY event.written_at, event.id
  RETURN collect(event {.*}) AS events
}
CALL (memory) {
  MATCH (:Persona {tenant_id: $tenant_id, id: memory.persona_id})-[:SLEPT]->(run:Run)
  WHERE
    run.state <> 'undone' AND
    coalesce(run.steps, 1) > 0 AND
    run.as_of >= coalesce(memory.extracted_at, memory.formed_at, memory.said_at)
  WITH run
  ORDER BY run.as_of DESC, run.id DESC
  LIMIT $steps
  MATCH (run)-[:DID]->(step:Step)
  WITH run, step
  ORDER BY run.as_of DESC, run.id DESC, step.place DESC
  LIMIT $steps
  WITH run, step
  WHERE
    $memory_id IN coalesce(step.memory_ids, []) OR
    $memory_id IN coalesce(step.to_ids, []) OR
    coalesce(step.changes, '') CONTAINS $quoted_id
  WITH run, step
  LIMIT $limit
  RETURN
    collect(step {.*, run_id: run.id, started_by: run.started_by, as_of: run.as_of}) AS steps
}
RETURN events, steps
