// Let one process migrate at a time. A lease that ran out is free: its holder has died.
//
// $holder   string, unique to the process
// $seconds  integer, the length of the lease
//
// Returns taken: whether this holder has it now.
CYPHER 25
MERGE (lock:MigrationLock {id: 'schema'})
// Writing first makes two takers queue up here, and the second see what the first wrote.
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
