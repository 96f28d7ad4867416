// Memories were used together: each counts an access and grows more salient, and the links between
// them grow stronger at once. Telling the same use twice counts it once.
//
// $tenant_id   string
// $persona_id  string
// $use_id      string
// $memory_ids  list of strings, sorted
// $now         zoned datetime
// $figures     map of maps, the policy by type/category and by type
//
// Returns missing: the ids there are no memories of, in which case nothing was counted; counted: false
// when this use was told before; links: the links between them.
CYPHER 25
OPTIONAL MATCH (memory:Memory {tenant_id: $tenant_id, persona_id: $persona_id})
WHERE memory.id IN $memory_ids
WITH memory
ORDER BY memory.id
WITH collect(memory) AS memories, collect(memory.id) AS found
WITH memories, [id IN $memory_ids WHERE NOT id IN found] AS missing
CALL (memories, missing) {
  WITH memories, missing
  WHERE missing = []
  MERGE (use:Use {tenant_id: $tenant_id, persona_id: $persona_id, id: $use_id})
    ON CREATE SET
      use.used_at = $now,
      use.fresh = true
  WITH memories, use, coalesce(use.fresh, false) AS fresh
  REMOVE use.fresh
  RETURN fresh AS counted
  UNION
  WITH missing
  WHERE missing <> []
  RETURN false AS counted
}
CALL (memories, counted) {
  WITH memories
  WHERE counted
  UNWIND memories AS memory
  WITH
    memory,
    coalesce(
      $figures[memory.memory_type + '/' + memory.category],
      $figures[memory.memory_type]
    ) AS figures,
    CASE WHEN memory.salience_at < $now
      THEN ($now.epochMillis - memory.salience_at.epochMillis) / 86400000.0
      ELSE 0.0
    END AS days,
    CASE WHEN memory.uses_on = date($now) THEN memory.uses_today ELSE 0 END AS uses
  WITH
    *,
    CASE WHEN memory.salience > figures.salience_mean
      THEN figures.salience_mean +
        (memory.salience - figures.salience_mean) * exp(-figures.salience_pull * days)
      ELSE memory.salience
    END AS rested
  WITH
    *,
    CASE figures.decay_curve
      WHEN 'linear' THEN rested - figures.salience_fade * days
      WHEN 'exponential' THEN rested * exp(-2 * figures.salience_fade * days)
      WHEN 'power' THEN rested / (1 + 2 * figures.salience_fade * days)
      ELSE rested
    END AS falling
  WITH *, CASE WHEN falling < 0 THEN 0.0 ELSE falling END AS faded
  SET
    memory.salience =
      faded + (1 - faded) * figures.salience_gain * figures.salience_repeat ^ uses,
    memory.salience_at = CASE WHEN days > 0 THEN $now ELSE memory.salience_at END,
    memory.uses_on = date($now),
    memory.uses_today = uses + 1,
    memory.access_count = memory.access_count + 1,
    memory.accessed_at = $now,
    memory.idle_since = $now,
    memory.idle_importance = memory.importance
}
CALL (memories, counted) {
  UNWIND memories AS source
  UNWIND memories AS target
  MATCH
    (source)
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
    (target)
  WITH
    source,
    target,
    link,
    counted,
    coalesce(
      $figures[source.memory_type + '/' + source.category],
      $figures[source.memory_type]
    ).coactivate_rate AS rate
  FOREACH (now IN CASE WHEN counted THEN [1] ELSE [] END |
    SET
      link.strength = link.strength + (1 - link.strength) * rate,
      link.coactivations = link.coactivations + 1,
      link.coactivated_at = $now,
      source.stirred_at = $now
  )
  WITH source, target, link
  ORDER BY source.id, target.id, type(link)
  RETURN
    collect(link {
      from_id: source.id,
      to_id: target.id,
      type: type(link),
      .strength,
      .weight_modifier,
      .coactivations,
      .coactivated_at,
      .created_at
    }) AS links
}
RETURN missing, counted, links
