// Record what recalling a memory brought up. Doing it twice keeps the first.
//
// $tenant_id     string
// $memory_id     string
// $user_id       string or null: with a user, only if all messages of the memory are in instances they are a
//                member of, and one of them is theirs, or of an instance they are an admin of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $recall        map {id, response, valence, surfaced_by, by}
// $event         map {id, action, by, at, after}
//
// Returns withdrawn: whether the memory is a withdrawn shape, and nothing was recorded; fresh: whether it was recorded
// now; kept: the recall that has this id, a map {recall_id, memory_id, persona_id, response, valence, surfaced_by, by,
// recalled_at}. Nothing when there is no such memory for this caller.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
WHERE
  // fragment: changeable_item (item → memory)
  ($user_id IS NULL OR
    (EXISTS { (memory)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (memory)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      })) AND
  ($user_id IS NULL OR
    EXISTS {
      MATCH
        (memory)-[:DRAWN_FROM]->(message)
          <-[:CONTAINS]-()<-[:HOLDS]-()
          <-[member:MEMBER_OF]-({id: $user_id})
      WHERE message.user_id = $user_id OR member.role = 'admin'
    })
  // end: changeable_item
// Lock before reading: a flag may just be withdrawing it.
SET memory.lock = true
REMOVE memory.lock
WITH memory, properties(memory).state = 'withdrawn' AS withdrawn
CALL (memory, withdrawn) {
  WITH memory
  WHERE NOT withdrawn
  MERGE (recall:Recall {tenant_id: $tenant_id, id: $recall.id})
    ON CREATE SET
      recall += $recall,
      recall.memory_id = memory.id,
      recall.persona_id = memory.persona_id,
      recall.recalled_at = $event.at,
      recall.fresh = true
  WITH memory, recall
  WHERE recall.fresh
  REMOVE recall.fresh
  CREATE (recall)-[:RECALLED]->(memory)
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      written_at: datetime.realtime(),
      after: $event.after
    })-[:ABOUT]->(memory)
  RETURN count(recall) AS recorded
}
OPTIONAL MATCH (kept:Recall {tenant_id: $tenant_id, id: $recall.id})
RETURN
  withdrawn,
  recorded = 1 AS fresh,
  kept {
    // fragment: recall_properties (recall → kept)
    recall_id: kept.id,
    .memory_id,
    .persona_id,
    .response,
    .valence,
    .surfaced_by,
    .by,
    .recalled_at
    // end: recall_properties
  } AS kept
