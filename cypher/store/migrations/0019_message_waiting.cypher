// Find the messages that nobody has drawn candidates from yet. Only they carry the property.
CYPHER 25
CREATE INDEX message_waiting IF NOT EXISTS
FOR (message:Message)
ON message.waiting_since
