// The shadow of a persona: its forgotten shapes, the newest first, what each says, the shape it became part of, and
// what it stands beside.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer
//
// Returns says; themes; felt: what it is like; residue; depth; drawn_by; shape and paths, for the graph.
CYPHER 25
MATCH (shape:ForgottenShape)
  USING INDEX SEEK shape:ForgottenShape(tenant_id, persona_id, formed_at, id)
WHERE
  shape.tenant_id = $tenant_id AND
  shape.persona_id = $persona_id AND
  shape.formed_at IS NOT NULL AND
  shape.id IS NOT NULL AND // an index is used only if the condition names all its properties
  shape.state <> 'withdrawn' AND
  NOT shape.flagged
WITH shape
ORDER BY shape.formed_at DESC, shape.id DESC
LIMIT $limit
MATCH (shape)-[:FELT_AS]->(experience:ShapeExperience)
RETURN
  shape.text AS says,
  experience.connected_themes AS themes,
  experience.felt_absence AS felt,
  experience.emotional_residue AS residue,
  shape.shape_depth AS depth,
  shape.drawn_by AS drawn_by,
  shape,
  COLLECT {
    MATCH path = (shape)-[:SHAPED_INTO]->(into:ForgottenShape)
    WHERE into.state <> 'withdrawn'
    RETURN path
    UNION ALL
    MATCH
      path =
        // fragment: link_types
        (shape)-[:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(other:Memory)
    WHERE other.state = 'active' AND NOT other.flagged
    RETURN path
    LIMIT 20
  } AS paths
ORDER BY shape.formed_at DESC, shape.id DESC
