// Drop the vector index, to create it again.
CYPHER 25
DROP INDEX meaning IF EXISTS
