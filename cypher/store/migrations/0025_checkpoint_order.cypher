// Read the checkpoints of a conversation in order, and find its newest.
CYPHER 25
CREATE INDEX checkpoint_order IF NOT EXISTS
FOR (checkpoint:Checkpoint)
ON (checkpoint.tenant_id, checkpoint.conversation_id, checkpoint.from_at)
