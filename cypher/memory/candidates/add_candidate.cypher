// Add a candidate that a runtime proposes. Doing it twice keeps the first.
//
// $tenant_id         string
// $persona_id        string
// $candidate         map {id, memory_type, text, content, extracted_at, packed_vectors, token_estimate,
//                    search_scope}
// $index_properties  map {about, category, fact, fact_value, fact_stance, fact_arity, valence, arousal}
// $embedding         vector
// $sources           list of strings, ids of messages
// $user_id           string or null: with a user, only messages of instances they are a member of count
// $instance_ids      list of strings or null: with a list, only these of the user's instances
// $event             map {id, action, by, at, after}
//
// Returns candidate, as it was stored first; missing: the messages that do not exist, in which case nothing was
// added and candidate is null. It is null too when a night has made a memory of this id. No row when there is
// no such persona.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.copying IS NULL
OPTIONAL MATCH (message:Message {tenant_id: $tenant_id})
WHERE
  message.id IN $sources AND
  // fragment: visible_message
  ($user_id IS NULL OR
    EXISTS {
      MATCH (message)<-[:CONTAINS]-()<-[:HOLDS]-(instance)<-[:MEMBER_OF]-({id: $user_id})
      WHERE $instance_ids IS NULL OR instance.id IN $instance_ids
    })
  // end: visible_message
WITH persona, message
ORDER BY message.said_at, message.id
WITH persona, collect(message) AS found, collect(message.id) AS found_ids
// fragment: source_messages
CALL (found) {
  UNWIND found AS message
  OPTIONAL MATCH (message)-[:COPY_OF]->(first:Message)
  WITH DISTINCT coalesce(first, message) AS first
  UNWIND [first] + [(copy:Message)-[:COPY_OF]->(first) | copy] AS message
  WITH message
  ORDER BY message.said_at, message.id
  SET message.lock = true
  REMOVE message.lock
  RETURN collect(message) AS messages
}
// end: source_messages
WITH
  persona,
  messages,
  [id IN $sources WHERE NOT id IN found_ids] AS missing,
  // A flag on a message to another persona does not count here.
  any(message IN messages
    WHERE coalesce(message.flagged, false) AND message.persona_id = $persona_id
  ) AS flagged,
  EXISTS { (:Memory {tenant_id: $tenant_id, id: $candidate.id}) } AS taken
CALL (persona, messages, missing, flagged, taken) {
  WITH persona, messages, missing, flagged, taken
  WHERE missing = [] AND NOT taken
  MERGE (candidate:Candidate {tenant_id: $tenant_id, id: $candidate.id})
    ON CREATE SET
      candidate += $candidate,
      candidate += $index_properties,
      candidate.fresh = true,
      candidate.persona_id = $persona_id,
      candidate.said_at = coalesce(messages[0].said_at, $candidate.extracted_at),
      candidate.conversation_id = messages[0].conversation_id,
      candidate.source_id = coalesce(messages[0].copied_from, messages[0].id),
      candidate.flagged = flagged,
      candidate.deprioritized_at = CASE WHEN flagged THEN $candidate.extracted_at END,
      candidate.minimized = false,
      candidate.embedding = toFloatList($embedding),
      candidate.state = CASE WHEN flagged THEN 'suppressed' ELSE 'pending' END
  WITH persona, messages, candidate, coalesce(candidate.fresh, false) AS fresh
  FOREACH (created IN CASE WHEN fresh THEN [candidate] ELSE [] END |
    MERGE (persona)-[:CONSIDERS]->(created)
    FOREACH (message IN messages | MERGE (created)-[:DRAWN_FROM]->(message))
    CREATE
      (:Event {
        tenant_id: $tenant_id,
        id: $event.id,
        action: $event.action,
        by: $event.by,
        at: $event.at,
        written_at: datetime.realtime(),
        after: $event.after
      })-[:ABOUT]->(created)
  )
  REMOVE candidate.fresh
  RETURN
    candidate {
      .id,
      .persona_id,
      .memory_type,
      .text,
      .content,
      .extracted_at,
      .state,
      .flagged,
      .deprioritized_at,
      sources:
        COLLECT {
          MATCH (candidate)-[:DRAWN_FROM]->(message)
          RETURN message.id
          ORDER BY message.said_at, message.id
        }
    } AS candidate,
    CASE WHEN fresh THEN [candidate {.tenant_id, .persona_id, .id, content: true}] ELSE [] END AS changed
  UNION
  WITH missing, taken
  WHERE missing <> [] OR taken
  RETURN null AS candidate, [] AS changed
}
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
RETURN candidate, missing
