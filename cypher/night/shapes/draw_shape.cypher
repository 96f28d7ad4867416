// Draw a shape of archived memories, or draw one again that was withdrawn: what it says, the sources it is drawn
// from, and the links that these have to living memories. A shape that is drawn again keeps what became of it.
//
// $tenant_id   string
// $persona_id  string
// $shape       map {id, title, text, content, said_at, fades_at, packed_vectors, token_estimate, known_share,
//              search_scope, shape_depth, shape_memories, drawn_by}
// $embedding   vector
// $experience  map {connected_themes, felt_absence, emotional_residue, temporal_marker, sense_of_loss}
// $source_ids  list of strings
// $as_of       zoned datetime
// $max_links   integer: how many links it inherits, the strongest
//
// Returns linked_ids: ids of the memories it is linked with. Nothing, and nothing is drawn, when one of the sources
// is not archived any more, is flagged, or has another shape: all are locked, so they can be read again now.
CYPHER 25
CALL () {
  UNWIND $source_ids AS id
  MATCH (source:Memory {tenant_id: $tenant_id, id: id})
  WITH source
  ORDER BY source.id
  SET source.lock = true
  REMOVE source.lock
  WITH source
  WHERE
    source.state = 'archived' AND
    NOT source.flagged AND
    source.persona_id = $persona_id AND
    NOT EXISTS {
      MATCH (source)-[:SHAPED_INTO]->(other)
      WHERE other.id <> $shape.id
    }
  RETURN collect(source) AS sources
}
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE size(sources) = size($source_ids)
MERGE (shape:Memory {tenant_id: $tenant_id, id: $shape.id})
  ON CREATE SET
    shape.persona_id = $persona_id,
    shape.memory_type = 'forgotten_shape',
    shape.flagged = false,
    shape.minimized = false,
    shape.formed_at = $as_of,
    shape.importance = 3,
    shape.idle_importance = 3,
    shape.idle_since = $as_of,
    shape.salience = 0.5,
    shape.salience_at = $as_of,
    shape.uses_today = 0,
    shape.access_count = 0,
    shape.reinforcements = 0,
    shape.weight_modifier = 1.0,
    shape.pinned = false
SET
  shape:ForgottenShape,
  shape += $shape,
  shape.embedding = toFloatList($embedding),
  shape.state = coalesce(shape.withdrawn_state, 'active')
REMOVE shape.withdrawn_state
MERGE (persona)-[:REMEMBERS]->(shape)
MERGE (shape)-[:FELT_AS]->(experience:ShapeExperience {tenant_id: $tenant_id, id: $shape.id})
SET
  experience += $experience,
  experience.persona_id = $persona_id,
  experience.decayed_at = $as_of
WITH shape, sources
CALL (shape) {
  MATCH (source)-[shaped:SHAPED_INTO]->(shape)
  WHERE NOT source.id IN $source_ids
  DELETE shaped
}
CALL (shape, sources) {
  UNWIND sources AS source
  MERGE (source)-[:SHAPED_INTO]->(shape)
}
CALL (shape, sources) {
  UNWIND sources AS source
  MATCH
    // fragment: link_types
    (source)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(other:Memory)
  WHERE other.state = 'active' AND NOT other.flagged AND other.memory_type <> 'forgotten_shape'
  WITH other, type(link) AS type, startNode(link) = source AS is_outgoing, link
  ORDER BY link.strength
  WITH
    other,
    type,
    is_outgoing,
    max(link.similarity) AS similarity,
    // As likely as that one of them holds.
    1 - reduce(rest = 1.0, strength IN collect(link.strength) | rest * (1 - strength)) AS strength
  ORDER BY strength DESC, other.id, type, is_outgoing
  LIMIT $max_links
  WITH
    other,
    type,
    is_outgoing,
    {
      strength: round(strength, 6),
      weight_modifier: CASE WHEN is_outgoing THEN shape.weight_modifier ELSE other.weight_modifier END,
      similarity: similarity,
      coactivations: 0,
      created_at: $as_of
    } AS properties
  CALL (shape, other, type, is_outgoing, properties) {
    WITH shape, other, type, is_outgoing, properties
    WHERE is_outgoing
    CREATE (shape)-[link:$(type)]->(other)
    SET link = properties
    UNION
    WITH shape, other, type, is_outgoing, properties
    WHERE NOT is_outgoing
    CREATE (other)-[link:$(type)]->(shape)
    SET link = properties
  }
  RETURN collect(DISTINCT other.id) AS linked_ids
}
RETURN linked_ids
