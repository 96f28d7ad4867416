// Wait until every index is online, so that no statement starts on a half-filled one.
//
// $seconds  integer
CYPHER 25
CALL db.awaitIndexes($seconds)
