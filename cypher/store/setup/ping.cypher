// The smallest round trip: whether the graph answers.
//
// Returns answer, always 1.
CYPHER 25
RETURN 1 AS answer
