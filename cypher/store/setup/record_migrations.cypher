// Write down that some migrations have been applied. A second record of one changes nothing.
//
// $migrations  list of maps {id, checksum}
// $applied_at  zoned datetime
CYPHER 25
UNWIND $migrations AS applied
MERGE (migration:Migration {id: applied.id})
  ON CREATE SET
    migration.checksum = applied.checksum,
    migration.applied_at = $applied_at
