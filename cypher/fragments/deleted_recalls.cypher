// Delete the recalls of an item that is no memory any more. What they say was about it alone.

CALL (item) {
  MATCH (recall:Recall)-[:RECALLED]->(item)
  DETACH DELETE recall
}
