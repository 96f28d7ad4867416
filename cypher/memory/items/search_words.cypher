// The items that contain some words, the best match first.
//
// $tenant_id  string
// $query      string, in Lucene's syntax
// $limit      integer
//
// Returns id, said_at, importance, salience.
CYPHER 25
CALL db.index.fulltext.queryNodes('words', $query, {limit: $limit}) YIELD node
WHERE node.tenant_id = $tenant_id
RETURN
  node.id AS id,
  node.said_at AS said_at,
  node.importance AS importance,
  node.salience AS salience
