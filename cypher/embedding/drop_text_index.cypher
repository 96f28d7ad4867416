// Drop the index over words, to make it again with another analyzer.
CYPHER 25
DROP INDEX words IF EXISTS
