// What was drawn from before there were checkpoints waits to be put into them, too.
CYPHER 25
MATCH (message:Message)
WHERE message.drawn_at IS NOT NULL AND NOT EXISTS { (message)<-[:COVERS]-(:Checkpoint) }
CALL (message) {
  SET message.uncovered_since = message.drawn_at
} IN TRANSACTIONS OF 10000 ROWS
