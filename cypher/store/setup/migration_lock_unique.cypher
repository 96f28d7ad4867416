// There is one lock, even when two processes ask for it first at the same moment.
CYPHER 25
CREATE CONSTRAINT migration_lock_id IF NOT EXISTS
FOR (lock:MigrationLock)
REQUIRE lock.id IS UNIQUE
