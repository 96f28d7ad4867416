// Write down that a migration has been applied. A second record of one changes nothing.
//
// $id          string
// $checksum    string
// $applied_at  zoned datetime
CYPHER 25
MERGE (migration:Migration {id: $id})
  ON CREATE SET
    migration.checksum = $checksum,
    migration.applied_at = $applied_at
