// Record that a migration has been applied. Recording it twice changes nothing.
//
// $id          string
// $checksum    string, of its file
// $applied_at  zoned datetime
CYPHER 25
MERGE (migration:Migration {id: $id})
  ON CREATE SET
    migration.checksum = $checksum,
    migration.applied_at = $applied_at
