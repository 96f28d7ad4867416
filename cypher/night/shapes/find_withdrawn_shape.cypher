// The next withdrawn shape that can be drawn again: some of its sources are archived and not flagged. The shallowest
// comes first, since deeper ones are drawn from it.
//
// $tenant_id   string
// $persona_id  string
// $characters  integer: how much of a text is read
//
// Returns id, title, depth, fades_at, decayed_at; fades: whether it fades when it is drawn again; source_ids: ids of all its sources; lost: of those that are archived and not
// flagged, maps {id, text, about, said_at, weight, access_count, valence, arousal, content, depth, residue,
// embedding}. Nothing when there is none.
CYPHER 25
MATCH (shape:Memory)
  USING INDEX SEEK shape:Memory(tenant_id, persona_id, state, id)
WHERE
  shape.tenant_id = $tenant_id AND
  shape.persona_id = $persona_id AND
  shape.state = 'withdrawn' AND
  shape.id IS NOT NULL AND // an index is used only if the condition names all its properties
  EXISTS { (:Memory {state: 'archived', flagged: false})-[:SHAPED_INTO]->(shape) }
WITH shape
ORDER BY shape.shape_depth, shape.id
LIMIT 1
MATCH (source:Memory)-[:SHAPED_INTO]->(shape)
OPTIONAL MATCH (source)-[:FELT_AS]->(experience:ShapeExperience)
WITH shape, source, experience
ORDER BY source.id
RETURN
  shape.id AS id,
  shape.title AS title,
  shape.shape_depth AS depth,
  shape.fades_at AS fades_at,
  shape.withdrawn_state = 'active' AND NOT shape.pinned AS fades,
  head(COLLECT { MATCH (shape)-[:FELT_AS]->(record:ShapeExperience) RETURN record.decayed_at }) AS decayed_at,
  collect(source.id) AS source_ids,
  collect(
    CASE WHEN source.state = 'archived' AND NOT source.flagged
      THEN source {
        .id,
        text: left(source.text, $characters),
        .about,
        .said_at,
        weight: coalesce(source.idle_importance, source.importance),
        .access_count,
        .valence,
        .arousal,
        .content,
        depth: source.shape_depth,
        residue: experience.emotional_residue,
        .embedding
      }
    END
  ) AS lost
