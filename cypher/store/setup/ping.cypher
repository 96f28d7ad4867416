// The smallest round trip: does the graph answer?
//
// Returns answer, always 1.
CYPHER 25
RETURN 1 AS answer
