// Make sure that there is one migration lock, even if two processes create it at the same moment.
CYPHER 25
CREATE CONSTRAINT migration_lock_id IF NOT EXISTS
FOR (lock:MigrationLock)
REQUIRE lock.id IS UNIQUE
