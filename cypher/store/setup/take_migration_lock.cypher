// Take or renew the migration lock. A lease that has run out is free: its holder has died.
//
// $holder   string, unique to the process
// $seconds  integer, the length of the lease
//
// Returns taken: whether this process holds it now.
CYPHER 25
MERGE (lock:MigrationLock {id: 'schema'})
// Writing first takes a lock, so that of two processes the second sees what the first wrote.
SET lock.asked_at = datetime()
WITH lock, lock.until IS NULL OR lock.until < datetime() OR lock.holder = $holder AS free
SET
  lock.holder = CASE WHEN free THEN $holder ELSE lock.holder END,
  lock.until =
    CASE
      WHEN free THEN datetime() + duration({seconds: $seconds})
      ELSE lock.until
    END
RETURN free AS taken
