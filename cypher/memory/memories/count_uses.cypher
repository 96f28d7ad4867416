// Count uses of memories: each used memory gets an access and more salience, and the links between memories used
// together grow stronger at once. Reporting the same use twice counts it once.
//
// $uses  list of maps {id, tenant_id, persona_id, memory_ids: sorted, at: zoned datetime, figures: the
//        policy's figures by `type/category` and by type, whole: whether it counts only if all memories exist,
//        user_id: string or null: with a user, only memories all of whose messages are in instances they
//        are a member of count, instance_ids: list of strings or null: with a list, only these
//        of the user's instances}
//
// Returns missing: the ids without a memory; counted: false when this use was reported before, or is not
// whole; links: of a use that has to be whole, the links between its memories. A row for each use, in their
// order.
CYPHER 25
CALL () {
  // All locks before anything is read, and in one order: then each call starts from what the former has
  // written, and two calls at once cannot deadlock.
  UNWIND $uses AS use
  UNWIND use.memory_ids AS memory_id
  WITH DISTINCT use.tenant_id AS tenant_id, memory_id
  ORDER BY tenant_id, memory_id
  MATCH (memory:Memory {tenant_id: tenant_id, id: memory_id})
  SET memory.lock = true
  REMOVE memory.lock
  RETURN count(memory) AS locked
}
UNWIND range(0, size($uses) - 1) AS place
WITH place, $uses[place] AS use
CALL (use) {
  MATCH (memory:Memory)
  USING INDEX memory:Memory(tenant_id, id)
  WHERE
    memory.tenant_id = use.tenant_id AND
    memory.id IN use.memory_ids AND
    memory.persona_id = use.persona_id AND
    // fragment: visible_item (item → memory, $user_id → use.user_id, $instance_ids → use.instance_ids, $tenant_id → use.tenant_id)
    (use.user_id IS NULL OR
      (EXISTS { (memory)-[:DRAWN_FROM]->() } AND
        NOT EXISTS {
          MATCH (memory)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
          WHERE
            NOT instance.id IN coalesce(use.instance_ids, [instance.id]) OR
            NOT EXISTS {
              (:User {tenant_id: use.tenant_id, id: use.user_id})-[:MEMBER_OF]->(instance)
            }
        }))
    // end: visible_item
  WITH memory
  ORDER BY memory.id
  RETURN collect(memory) AS memories, collect(memory.id) AS found
}
WITH place, use, memories, [id IN use.memory_ids WHERE NOT id IN found] AS missing
CALL (use, missing) {
  WITH use
  WHERE missing = [] OR NOT use.whole
  MERGE (recorded:Use {tenant_id: use.tenant_id, persona_id: use.persona_id, id: use.id})
    ON CREATE SET
      recorded.used_at = use.at,
      recorded.fresh = true
  WITH recorded, coalesce(recorded.fresh, false) AS fresh
  REMOVE recorded.fresh
  RETURN fresh AS counted
  UNION
  WITH missing
  WHERE missing <> [] AND use.whole
  RETURN false AS counted
}
CALL (use, memories, counted) {
  WITH memories
  WHERE counted
  UNWIND memories AS memory
  WITH
    memory,
    // fragment: figures_of_memory ($figures → use.figures)
    coalesce(
      use.figures[memory.memory_type + '/' + memory.category],
      use.figures[memory.memory_type]
    ) AS figures
    // end: figures_of_memory
  // fragment: current_salience ($now → use.at)
  WITH
    *,
    CASE WHEN memory.salience_at < use.at
      THEN (use.at.epochMillis - memory.salience_at.epochMillis) / 86400000.0
      ELSE 0.0
    END AS days,
    CASE WHEN memory.uses_on = date(use.at) THEN memory.uses_today ELSE 0 END AS uses
  WITH
    *,
    CASE WHEN memory.salience > figures.salience_mean
      THEN figures.salience_mean +
        (memory.salience - figures.salience_mean) * exp(-figures.salience_pull * days)
      ELSE memory.salience
    END AS pulled
  WITH
    *,
    CASE figures.decay_curve
      WHEN 'linear' THEN pulled - figures.salience_fade * days
      WHEN 'exponential' THEN pulled * exp(-2 * figures.salience_fade * days)
      WHEN 'power' THEN pulled / (1 + 2 * figures.salience_fade * days)
      ELSE pulled
    END AS unbounded
  WITH *, CASE WHEN unbounded < 0 THEN 0.0 ELSE unbounded END AS faded
  // end: current_salience
  SET
    memory.salience =
      faded + (1 - faded) * figures.salience_gain * figures.salience_repeat ^ uses,
    memory.salience_at = CASE WHEN days > 0 THEN use.at ELSE memory.salience_at END,
    memory.uses_on = date(use.at),
    memory.uses_today = uses + 1,
    memory.access_count = memory.access_count + 1,
    memory.accessed_at = use.at,
    memory.idle_since = use.at,
    memory.idle_importance = memory.importance
}
CALL (use, memories, counted) {
  UNWIND memories AS source
  // What goes out from each, once: comparing each with every other would cost the square of their number.
  MATCH
    (source)
      // fragment: link_types
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
    (target:Memory)
  WHERE target IN memories
  WITH
    source,
    target,
    link,
    counted,
    coalesce(
      use.figures[source.memory_type + '/' + source.category],
      use.figures[source.memory_type]
    ).coactivate_rate AS rate
  FOREACH (once IN CASE WHEN counted THEN [1] ELSE [] END |
    SET
      link.strength = link.strength + (1 - link.strength) * rate,
      link.coactivations = link.coactivations + 1,
      link.coactivated_at = use.at,
      source.stirred_at = use.at
  )
  WITH source, target, link
  ORDER BY source.id, target.id, type(link)
  RETURN
    collect(
      CASE WHEN use.whole
        THEN
          link {
            from_id: source.id,
            to_id: target.id,
            type: type(link),
            .strength,
            .weight_modifier,
            .coactivations,
            .coactivated_at,
            .created_at
          }
      END
    ) AS links
}
WITH place, missing, counted, links, CASE WHEN counted THEN memories ELSE [] END AS used
ORDER BY place
WITH collect({missing: missing, counted: counted, links: links}) AS rows, collect(used) AS used
CALL (used) {
  UNWIND used AS memories
  UNWIND memories AS memory
  RETURN collect(DISTINCT memory {.tenant_id, .persona_id, .id}) AS changed
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
UNWIND rows AS row
RETURN row.missing AS missing, row.counted AS counted, row.links AS links
