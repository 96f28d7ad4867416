// Add a memory at once, without waiting for a night; the next night links it. Doing it twice keeps the first.
//
// $tenant_id         string
// $persona_id        string
// $memory            map {id, memory_type, text, content, said_at, packed_vectors, token_estimate, search_scope,
//                    tags, project, importance, idle_importance, pinned, fades_at}
// $index_properties  map {about, category, fact, fact_value, fact_stance, fact_arity, valence, arousal}
// $label             string, of its type
// $embedding         vector
// $sources           list of strings, ids of messages
// $user_id           string or null: with a user, only messages of instances they are a member of count
// $instance_ids      list of strings or null: with a list, only these of the user's instances
// $event             map {id, action, by, at, after}
//
// Returns missing: the messages that do not exist; flagged: the messages that are flagged; taken: whether a
// candidate has this id. In each of these cases nothing was added. kept: the memory that has the id now, a map
// {persona_id, memory_type, text, content}. No row when there is no such persona.
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
  [
    message IN messages
    WHERE coalesce(message.flagged, false) AND message.persona_id = $persona_id |
    message.id
  ] AS flagged,
  EXISTS { (:Candidate {tenant_id: $tenant_id, id: $memory.id}) } AS taken
CALL (persona, messages, missing, flagged, taken) {
  WITH persona, messages
  WHERE missing = [] AND flagged = [] AND NOT taken
  MERGE (memory:Memory {tenant_id: $tenant_id, id: $memory.id})
    ON CREATE SET
      memory += $memory,
      memory += $index_properties,
      memory.fresh = true,
      memory.persona_id = $persona_id,
      memory.conversation_id = messages[0].conversation_id,
      memory.source_id = coalesce(messages[0].copied_from, messages[0].id),
      memory.tagged = CASE WHEN $memory.tags <> [] THEN true END,
      memory.embedding = toFloatList($embedding),
      memory.flagged = false,
      memory.minimized = false,
      memory.state = 'active',
      memory.formed_at = $event.at,
      memory.idle_since = $event.at,
      memory.salience = 0.5,
      memory.salience_at = $event.at,
      memory.uses_today = 0,
      memory.access_count = 0,
      memory.reinforcements = 0,
      memory.weight_modifier = 1.0,
      memory.awaits = 'links',
      memory.valid_from = CASE $memory.memory_type WHEN 'semantic' THEN $memory.said_at END
  WITH persona, messages, memory
  WHERE memory.fresh
  REMOVE memory.fresh
  SET memory:$($label)
  MERGE (persona)-[:REMEMBERS]->(memory)
  FOREACH (message IN messages | MERGE (memory)-[:DRAWN_FROM]->(message))
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
  RETURN collect(memory {.tenant_id, .persona_id, .id, content: true}) AS changed
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
WITH missing, flagged, taken
OPTIONAL MATCH (kept:Memory {tenant_id: $tenant_id, id: $memory.id})
RETURN
  missing,
  flagged,
  taken,
  kept {.persona_id, .memory_type, .text, .content} AS kept
