// The messages that something is drawn from, with all their copies in conversations that were split off, so
// that a flag on any of them counts. They are locked before they are read: one may just be flagged.

CALL (found) {
  UNWIND found AS message
  OPTIONAL MATCH (message)-[:COPY_OF]->(first:Message)
  WITH DISTINCT coalesce(first, message) AS first
  UNWIND [first] + [(copy:Message)-[:COPY_OF]->(first) | copy] AS message
  WITH message
  ORDER BY message.said_at, message.id
  SET message.lock = true
  REMOVE message.lock
  RETURN collect(message) AS messages
}
