// The migrations that were applied to this graph.
//
// Returns id, checksum.
CYPHER 25
MATCH (migration:Migration)
RETURN migration.id AS id, migration.checksum AS checksum
ORDER BY id
