// How each memory of a persona stands now: a list for each property, all in one order.
//
// $tenant_id   string
// $persona_id  string
//
// Returns ids; states; shapes: which of them are forgotten shapes; minimized; memory_types; categories, '' for none;
// saliences, as they were at moved_at, in milliseconds since 1970; modifiers: their weight_modifier.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, id)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.state IS NOT NULL AND
  memory.id IS NOT NULL // an index is used only if the condition names all its properties
// Read as one map: property by property takes twice as long.
WITH
  memory {
    .id,
    .state,
    .minimized,
    .memory_type,
    .category,
    .salience,
    .salience_at,
    .weight_modifier,
    is_shape: memory:ForgottenShape
  } AS stored
ORDER BY stored.id
// A list leaves out what is null, and all of them have to be in one order.
RETURN
  collect(stored.id) AS ids,
  collect(stored.state) AS states,
  collect(stored.is_shape) AS shapes,
  collect(coalesce(stored.minimized, false)) AS minimized,
  collect(coalesce(stored.memory_type, '')) AS memory_types,
  collect(coalesce(stored.category, '')) AS categories,
  collect(coalesce(stored.salience, 0.0)) AS saliences,
  collect(coalesce(stored.salience_at.epochMillis, 0)) AS moved_at,
  collect(coalesce(stored.weight_modifier, 1.0)) AS modifiers
