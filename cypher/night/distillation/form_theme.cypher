// Form a semantic memory, a theme, of what several episodes have in common; it EXTENDS them.
//
// $tenant_id   string
// $persona_id  string
// $rows        list of maps {id, text, content, about, category, said_at, valid_from, fades_at,
//              strength, embedding, packed_vectors, token_estimate, search_scope, episode_ids}
// $as_of       zoned datetime
//
// Returns id, text, episode_ids of each that was made.
CYPHER 25
UNWIND $rows AS row
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE NOT EXISTS { (:Memory {tenant_id: $tenant_id, id: row.id}) }
CALL (row) {
  UNWIND row.episode_ids AS episode_id
  MATCH (:Memory {tenant_id: $tenant_id, id: episode_id})-[:DRAWN_FROM]->(message)
  WHERE message.persona_id = $persona_id
  SET message.lock = true
  REMOVE message.lock
  WITH message
  WHERE coalesce(message.flagged, false)
  RETURN count(message) AS flagged
}
WITH persona, row, flagged
WHERE flagged = 0
CREATE
  (persona)-[:REMEMBERS]->(theme:Memory:Semantic {
    tenant_id: $tenant_id,
    id: row.id,
    persona_id: $persona_id,
    memory_type: 'semantic',
    text: row.text,
    content: row.content,
    about: row.about,
    category: row.category,
    said_at: row.said_at,
    valid_from: row.valid_from,
    embedding: toFloatList(row.embedding),
    packed_vectors: row.packed_vectors,
    token_estimate: row.token_estimate,
    search_scope: row.search_scope,
    flagged: false,
    minimized: false,
    state: 'active',
    formed_at: $as_of,
    distilled_at: $as_of,
    importance: 5,
    idle_importance: 5,
    idle_since: $as_of,
    fades_at: row.fades_at,
    salience: 0.5,
    salience_at: $as_of,
    uses_today: 0,
    access_count: 0,
    reinforcements: 0,
    weight_modifier: 1.0,
    pinned: false
  })
WITH theme, row
CALL (theme, row) {
  UNWIND row.episode_ids AS episode_id
  MATCH (episode:Memory {tenant_id: $tenant_id, id: episode_id})
  CREATE
    (theme)-[:EXTENDS {
      strength: row.strength,
      weight_modifier: 1.0,
      coactivations: 0,
      created_at: $as_of
    }]->(episode)
  WITH theme, episode
  MATCH (episode)-[:DRAWN_FROM]->(message)
  WITH DISTINCT theme, message
  CREATE (theme)-[:DRAWN_FROM]->(message)
}
RETURN theme.id AS id, theme.text AS text, row.episode_ids AS episode_ids
