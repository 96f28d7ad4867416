// Link two memories of one persona. Doing it twice keeps the first.
//
// $tenant_id    string
// $from_id      string
// $to_id        string
// $type         string
// $strength     float
// $prune_below  map, by memory type: strengths below are looked at by the next run
// $now          zoned datetime
//
// Returns link; nothing when one of them is not there, or they belong to two personas.
CYPHER 25
MATCH (source:Memory {tenant_id: $tenant_id, id: $from_id})
MATCH (target:Memory {tenant_id: $tenant_id, id: $to_id})
WHERE source.persona_id = target.persona_id
MERGE (source)-[link:$($type)]->(target)
  ON CREATE SET
    link.strength = $strength,
    link.weight_modifier = source.weight_modifier,
    link.coactivations = 0,
    link.created_at = $now
SET
  source.prune_at =
    CASE
      WHEN link.strength < $prune_below[source.memory_type] THEN coalesce(source.prune_at, $now)
      ELSE source.prune_at
    END
RETURN
  link {
    from_id: source.id,
    to_id: target.id,
    type: type(link),
    .strength,
    .weight_modifier,
    .coactivations,
    .coactivated_at,
    .created_at
  } AS link
