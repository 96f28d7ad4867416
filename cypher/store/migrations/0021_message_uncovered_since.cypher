// Find the messages whose checkpoints nobody has made in time. Only they carry the property.
CYPHER 25
CREATE INDEX message_uncovered_since IF NOT EXISTS
FOR (message:Message)
ON message.uncovered_since
