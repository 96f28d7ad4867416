// Remove an episode from a theme that it had joined.
//
// $tenant_id  string
// $rows       list of maps {theme_id, episode_id, messages}
//
// Returns memory_id, of the theme; changed_ids: of both, nothing when they were linked no more.
CYPHER 25
UNWIND $rows AS row
MATCH (theme:Memory {tenant_id: $tenant_id, id: row.theme_id})
SET theme.lock = true
REMOVE theme.lock
WITH theme, row
OPTIONAL MATCH (theme)-[extends:EXTENDS]->(:Memory {tenant_id: $tenant_id, id: row.episode_id})
WITH theme, row, extends, extends IS NOT NULL AS was_linked
DELETE extends
SET theme.reinforcements = theme.reinforcements - 1
WITH theme, row, was_linked
CALL (theme, row) {
  MATCH (theme)-[drawn:DRAWN_FROM]->(message:Message)
  WHERE message.id IN row.messages OR message.copied_from IN row.messages
  DELETE drawn
}
RETURN theme.id AS memory_id, CASE WHEN was_linked THEN [theme.id, row.episode_id] ELSE [] END AS changed_ids
