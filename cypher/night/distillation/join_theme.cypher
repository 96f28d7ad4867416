// Add an episode to a theme that was distilled before.
//
// $tenant_id  string
// $rows       list of maps {theme_id, episode_id, strength}
// $as_of      zoned datetime
//
// Returns theme_id, episode_id; messages, ids of those that became sources of the theme.
CYPHER 25
UNWIND $rows AS row
MATCH (theme:Memory {tenant_id: $tenant_id, id: row.theme_id})
MATCH (episode:Memory {tenant_id: $tenant_id, id: row.episode_id})
WHERE NOT EXISTS { (theme)-[:EXTENDS]->(episode) }
CREATE
  (theme)-[:EXTENDS {
    strength: row.strength,
    weight_modifier: theme.weight_modifier,
    coactivations: 0,
    created_at: $as_of
  }]->(episode)
SET theme.reinforcements = theme.reinforcements + 1
WITH theme, episode
CALL (theme, episode) {
  MATCH (episode)-[:DRAWN_FROM]->(message)
  WHERE NOT EXISTS { (theme)-[:DRAWN_FROM]->(message) }
  CREATE (theme)-[:DRAWN_FROM]->(message)
  RETURN collect(message.id) AS messages
}
RETURN theme.id AS theme_id, episode.id AS episode_id, messages
