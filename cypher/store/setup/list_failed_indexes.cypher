// The indexes that Neo4j has given up: nothing is found by them.
//
// Returns name.
CYPHER 25
SHOW INDEXES
YIELD name, state
WHERE state = 'FAILED'
RETURN name
