// A night is a run now, and a run that was undone gives its day back.
CYPHER 25
DROP CONSTRAINT night_id IF EXISTS
