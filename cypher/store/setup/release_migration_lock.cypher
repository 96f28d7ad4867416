// Release the migration lock, if this process still holds it.
//
// $holder  string
CYPHER 25
MATCH (lock:MigrationLock {id: 'schema', holder: $holder})
REMOVE lock.holder, lock.until
