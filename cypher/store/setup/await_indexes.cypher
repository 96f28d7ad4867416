// Wait until every index is online, so that no statement runs on an incomplete one.
//
// $seconds  integer
CYPHER 25
CALL db.awaitIndexes($seconds)
