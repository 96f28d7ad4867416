// Where a memory came from: what was said, in which conversation, what it was merged with, and for a theme the
// episodes behind it; with the flags on what was said.
//
// $tenant_id  string
// $memory_id  string
//
// Returns text; said: the messages, in their order; paths, for the graph.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
CALL (memory) {
  MATCH path = (memory)-[:DRAWN_FROM]->(message:Message)<-[:CONTAINS]-(:Conversation)
  RETURN path, message
  UNION ALL
  MATCH path = (memory)-[:DRAWN_FROM]->(message:Message)<-[:FLAGS]-(:Flag)
  RETURN path, message
  UNION ALL
  MATCH path = (memory)<-[:MERGED_INTO]-(:Candidate)-[:DRAWN_FROM]->(message:Message)
  RETURN path, message
  UNION ALL
  MATCH path = (memory)-[:EXTENDS]->(:Memory)-[:DRAWN_FROM]->(message:Message)
  WHERE memory.distilled_at IS NOT NULL
  RETURN path, message
}
WITH memory, path, message
ORDER BY message.said_at, message.id
WITH memory, collect(path) AS paths, collect(DISTINCT message) AS messages
RETURN
  memory.text AS text,
  [
    message IN messages |
      toString(date(message.said_at)) + ' ' +
        coalesce(message.speaker, message.role) + ': ' + message.content
  ] AS said,
  paths
