// The next new episodes, in the order they were said, with related episodes of the same person.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer
// $near        integer, related episodes of each
// $similarity  float, cosine from which two episodes may be of one theme
// $characters  integer: how much of a text is read
//
// Returns episode; near, maps {id, about, text, said_at, source_id, similarity, embedding, themes}, the
// nearest first. `themes` are what was distilled from it, maps {id, content}.
CYPHER 25
MATCH (episode:Memory)
  USING INDEX SEEK episode:Memory(tenant_id, persona_id, awaits, said_at, id)
WHERE
  episode.tenant_id = $tenant_id AND
  episode.persona_id = $persona_id AND
  episode.awaits = 'theme' AND
  episode.said_at IS NOT NULL AND
  episode.id IS NOT NULL // an index is used only if the condition names all its properties
WITH episode
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY episode.tenant_id, episode.persona_id, episode.awaits, episode.said_at, episode.id
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
  LIMIT $near
  RETURN
    collect(other {
      .id,
      .about,
      text: left(other.text, $characters),
      .said_at,
      .source_id,
      .embedding,
      similarity: similarity,
      themes:
        COLLECT {
          MATCH (theme:Semantic)-[:EXTENDS]->(other)
          WHERE
            theme.distilled_at IS NOT NULL AND
            theme.state = 'active' AND
            NOT theme.flagged
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
    text: left(episode.text, $characters),
    .said_at,
    .source_id,
    .embedding,
    themes:
      COLLECT {
        MATCH (theme:Semantic)-[:EXTENDS]->(episode)
        WHERE
          theme.distilled_at IS NOT NULL AND
          theme.state = 'active' AND
          NOT theme.flagged
        RETURN theme {.id, .content}
        ORDER BY theme.id
      }
  } AS episode,
  near
ORDER BY episode.said_at, episode.id
