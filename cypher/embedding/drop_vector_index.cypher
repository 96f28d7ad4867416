// Drop the index over meaning, to make it again.
CYPHER 25
DROP INDEX meaning IF EXISTS
