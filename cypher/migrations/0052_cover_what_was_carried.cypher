// What splits carried before copies were put into checkpoints waits for it, too.
CYPHER 25
MATCH (carried:Message)-[:COPY_OF]->(message:Message)
WHERE message.waiting_since IS NULL AND NOT EXISTS { (carried)<-[:COVERS]-(:Checkpoint) }
CALL (carried) {
  SET carried.uncovered_since = carried.received_at
} IN TRANSACTIONS OF 10000 ROWS
