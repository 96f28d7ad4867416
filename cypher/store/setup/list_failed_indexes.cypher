// The indexes that Neo4j could not build: nothing is found by them.
//
// Returns name.
CYPHER 25
SHOW INDEXES
YIELD name, state
WHERE state = 'FAILED'
RETURN name
