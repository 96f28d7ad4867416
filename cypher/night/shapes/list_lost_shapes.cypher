// The archived shapes of a persona that no other shape speaks of, the shallowest first.
//
// $tenant_id   string
// $persona_id  string
// $max_depth   integer: shapes of this depth or deeper are left out
//
// Returns source: a map {id, content, depth, residue, embedding}.
CYPHER 25
MATCH (shape:ForgottenShape)
  USING INDEX SEEK shape:ForgottenShape(tenant_id, persona_id, formed_at, id)
WHERE
  shape.tenant_id = $tenant_id AND
  shape.persona_id = $persona_id AND
  shape.formed_at IS NOT NULL AND
  shape.id IS NOT NULL AND // an index is used only if the condition names all its properties
  shape.state = 'archived' AND
  NOT shape.flagged AND
  shape.shape_depth < $max_depth AND
  NOT EXISTS { (shape)-[:SHAPED_INTO]->() }
MATCH (shape)-[:FELT_AS]->(experience:ShapeExperience)
RETURN
  shape {
    .id,
    .content,
    depth: shape.shape_depth,
    residue: experience.emotional_residue,
    .embedding
  } AS source
ORDER BY source.depth, source.id
