// Drop the full-text index, to create it again with another analyzer.
CYPHER 25
DROP INDEX words IF EXISTS
