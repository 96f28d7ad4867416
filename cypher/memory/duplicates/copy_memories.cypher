// Copy memories into a new persona, with what they were drawn from and without their counts of use. From now on
// they fade as if they had been used today.
//
// $tenant_id     string
// $persona_id    string
// $copy_id       string
// $search_scope  string, of the copy
// $worker        string
// $seconds       integer
// $rows          list of maps {id, copy_id}
// $figures       map of maps: the policy's figures by `type/category` and by type
//
// Returns copied: how many are there now. Nothing when another worker holds the source persona.
CYPHER 25
MATCH (source:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE source.run_worker = $worker
SET source.run_until = datetime() + duration({seconds: $seconds})
WITH source
MATCH (copy:Persona {tenant_id: $tenant_id, id: $copy_id})
WHERE copy.copying IS NOT NULL
UNWIND $rows AS row
MATCH (memory:Memory {tenant_id: $tenant_id, id: row.id, persona_id: $persona_id})
WITH
  copy,
  row,
  memory,
  copy.copying AS at,
  EXISTS { (:Memory {tenant_id: $tenant_id, id: row.copy_id}) } AS known,
  // fragment: figures_of_memory
  coalesce(
    $figures[memory.memory_type + '/' + memory.category],
    $figures[memory.memory_type]
  ) AS figures
  // end: figures_of_memory
MERGE (copied:Memory {tenant_id: $tenant_id, id: row.copy_id})
  ON CREATE SET
    copied +=
      memory {
        .*,
        id: row.copy_id,
        persona_id: $copy_id,
        search_scope: $search_scope,
        copied_from: memory.id,
        copied_at: at,
        // The weight that flags gave it is its own here: later flags on the same messages do not change it.
        own_modifier: memory.weight_modifier,
        own_flagged: CASE WHEN memory.flagged THEN true END,
        access_count: 0,
        accessed_at: null,
        uses_on: null,
        uses_today: 0,
        stirred_at: null,
        awaits: null,
        share_key: null, // from which the ids of rumours of the memory it was copied from follow
        idle_since: at,
        idle_importance: memory.importance,
        // Not later than it can decay or be archived.
        fades_at:
          CASE WHEN memory.state = 'active' AND NOT memory.pinned
            THEN at +
              duration({
                seconds:
                  toInteger(
                    86400 *
                      CASE WHEN figures.decay_days < figures.archive_days
                        THEN figures.decay_days
                        ELSE figures.archive_days
                      END
                  )
              })
          END,
        prune_at:
          CASE WHEN memory.prune_at IS NOT NULL
            THEN at + duration({seconds: toInteger(86400 * figures.prune_days)})
          END
      }
SET copied:$([label IN labels(memory) WHERE label <> 'Memory'])
MERGE (copy)-[:REMEMBERS]->(copied)
WITH memory, copied, known
CALL (memory, copied) {
  MATCH (memory)-[:DRAWN_FROM]->(message)
  MERGE (copied)-[:DRAWN_FROM]->(message)
  RETURN count(message) AS messages
}
WITH
  count(copied) AS copied,
  collect(CASE WHEN NOT known THEN copied {.tenant_id, .persona_id, .id, content: true} END) AS changed
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
RETURN copied
