// Put a candidate that a night has passed over back into the queue of the next night.
//
// $tenant_id     string
// $candidate_id  string
// $user_id       string or null: with a user, only if all its messages are in instances they are a member
//                of, and one of them is theirs, or of an instance they are an admin of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $viewer        string or null: with a user, `shown_acts` counts only the flags they may know of
// $event         map {id, action, by, at}
//
// Returns candidate as it is now, with acts: how many acts of flagging suppress it, and shown_acts; and
// restored: whether it could be. Nothing when there is none for this caller.
CYPHER 25
MATCH (candidate:Candidate|Memory {tenant_id: $tenant_id, id: $candidate_id})
SET candidate.lock = true
REMOVE candidate.lock
WITH candidate
WHERE
  // fragment: changeable_item (item → candidate)
  ($user_id IS NULL OR
    (EXISTS { (candidate)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (candidate)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      })) AND
  ($user_id IS NULL OR
    EXISTS {
      MATCH
        (candidate)-[:DRAWN_FROM]->(message)
          <-[:CONTAINS]-()<-[:HOLDS]-()
          <-[member:MEMBER_OF]-({id: $user_id})
      WHERE message.user_id = $user_id OR member.role = 'admin'
    })
  // end: changeable_item
WITH candidate, candidate.state = 'passed_over' AS restored
FOREACH (waiting IN CASE WHEN restored THEN [candidate] ELSE [] END |
  SET
    waiting.state = 'pending',
    waiting.restored_at = $event.at
  REMOVE waiting.passed_over_at
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      written_at: datetime.realtime(),
      before: 'passed_over',
      after: 'pending'
    })-[:ABOUT]->(waiting)
)
WITH
  candidate,
  restored,
  CASE WHEN restored THEN [candidate {.tenant_id, .persona_id, .id}] ELSE [] END AS changed
// fragment: log_changes
CALL (changed) {
  UNWIND changed AS change
  WITH
    change.tenant_id AS tenant_id,
    change.persona_id AS persona_id,
    collect(DISTINCT change.id) AS item_ids,
    true IN collect(change.content) AS content
  ORDER BY tenant_id, persona_id
  MERGE (log:ChangeLog {tenant_id: tenant_id, persona_id: persona_id})
    ON CREATE SET log.revision = 0
  SET log.lock = true
  REMOVE log.lock
  // Read as one map: a property that is named may have been read before the lock.
  WITH log, item_ids, content, properties(log).revision + 1 AS revision
  SET log.revision = revision
  CREATE
    (:Change {
      tenant_id: log.tenant_id,
      persona_id: log.persona_id,
      revision: revision,
      at: datetime.realtime(),
      // Of more, a cache reads everything again.
      item_ids: CASE WHEN size(item_ids) <= 2000 THEN item_ids END,
      content: content
    })
}
// end: log_changes
RETURN
  candidate {
    // fragment: candidate_properties
    .id,
    .persona_id,
    .memory_type,
    .text,
    .content,
    .extracted_at,
    .state,
    .flagged,
    .deprioritized_at,
    acts:
      COUNT {
        MATCH (candidate)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
        WHERE flag.reversed_at IS NULL AND message.persona_id = candidate.persona_id
        RETURN DISTINCT flag.act
      },
    shown_acts:
      COUNT {
        MATCH (candidate)-[:DRAWN_FROM]->(message)<-[:FLAGS]-(flag)
        WHERE
          flag.reversed_at IS NULL AND
          message.persona_id = candidate.persona_id AND
          ($viewer IS NULL OR
            flag.flagged_by = $viewer OR
            EXISTS {
              (message)<-[:CONTAINS]-()<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $viewer})
            })
        RETURN DISTINCT flag.act
      },
    sources:
      COLLECT {
        MATCH (candidate)-[:DRAWN_FROM]->(message)
        RETURN message.id
        ORDER BY message.said_at, message.id
      }
    // end: candidate_properties
  } AS candidate,
  restored
