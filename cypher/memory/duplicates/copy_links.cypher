// Copy the links that go out from some memories, with their strength and without their counts of use.
//
// $tenant_id   string
// $persona_id  string
// $copy_id     string
// $worker      string
// $seconds     integer
// $rows        list of strings, ids of memories of the old persona
//
// Returns links: how many are there now. Nothing when another worker holds the source persona.
//
// The copies of both ends are looked up in subqueries: while few memories have been copied anywhere the
// planner would compare every copy with every other.
CYPHER 25
MATCH (source:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE source.run_worker = $worker
SET source.run_until = datetime() + duration({seconds: $seconds})
WITH source
CALL () {
  UNWIND $rows AS id
  MATCH
    (memory:Memory {tenant_id: $tenant_id, id: id})
      // fragment: link_types
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
    (other:Memory)
  CALL (memory) {
    MATCH (source_copy:Memory {tenant_id: $tenant_id, persona_id: $copy_id, copied_from: memory.id})
    RETURN source_copy
  }
  CALL (other) {
    MATCH (target_copy:Memory {tenant_id: $tenant_id, persona_id: $copy_id, copied_from: other.id})
    RETURN target_copy
  }
  WITH
    link,
    source_copy,
    target_copy,
    EXISTS { (source_copy)-[:$(type(link))]->(target_copy) } AS known
  MERGE (source_copy)-[made:$(type(link))]->(target_copy)
    ON CREATE SET made = link {.*, coactivations: 0, coactivated_at: null}
  WITH
    made,
    CASE WHEN known THEN [] ELSE [source_copy {.tenant_id, .persona_id, .id}, target_copy {.tenant_id, .persona_id, .id}] END AS ends
  UNWIND CASE WHEN ends = [] THEN [null] ELSE ends END AS linked
  RETURN count(DISTINCT made) AS links, collect(DISTINCT linked) AS changed
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
RETURN links
