// The next new episodes, in the order they were said, with the related episodes of the same person.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer
// $similarity  float, cosine from which two episodes may be of one theme
//
// Returns episode; near, maps {id, text, content, said_at, similarity, embedding, themes}, the nearest
// first. `themes` are what was distilled from it, maps {id, content}.
CYPHER 25
MATCH (episode:Memory)
  USING INDEX SEEK episode:Memory(tenant_id, persona_id, awaits, said_at, id)
WHERE
  episode.tenant_id = $tenant_id AND
  episode.persona_id = $persona_id AND
  episode.awaits = 'theme' AND
  episode.said_at IS NOT NULL AND
  episode.id IS NOT NULL // an index is used only when all it covers is asked for
WITH episode
ORDER BY episode.said_at, episode.id
LIMIT $limit
CALL (episode) {
  MATCH (episode)-[link:RELATED]-(other:Episodic)
  WHERE
    link.similarity >= $similarity AND
    other.state = 'active' AND
    NOT other.flagged AND
    NOT episode.flagged AND
    coalesce(other.about, '') = coalesce(episode.about, '')
  WITH other, link.similarity AS similarity
  ORDER BY similarity DESC, other.id
  RETURN
    collect(other {
      .id,
      .about,
      .content,
      .said_at,
      .embedding,
      similarity: similarity,
      themes:
        COLLECT {
          MATCH (theme:Semantic)-[:EXTENDS]->(other)
          WHERE theme.distilled_at IS NOT NULL AND theme.state = 'active'
          RETURN theme {.id, .content}
          ORDER BY theme.id
        }
    }) AS near
}
RETURN
  episode {
    .id,
    .about,
    .category,
    .content,
    .said_at,
    .embedding,
    themes:
      COLLECT {
        MATCH (theme:Semantic)-[:EXTENDS]->(episode)
        WHERE theme.distilled_at IS NOT NULL AND theme.state = 'active'
        RETURN theme {.id, .content}
        ORDER BY theme.id
      }
  } AS episode,
  near
ORDER BY episode.said_at, episode.id
