// Give the lease back, if it is still ours.
//
// $holder  string
CYPHER 25
MATCH (lock:MigrationLock {id: 'schema', holder: $holder})
REMOVE lock.holder, lock.until
