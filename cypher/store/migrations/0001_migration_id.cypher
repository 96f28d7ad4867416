// A migration is recorded once.
CYPHER 25
CREATE CONSTRAINT migration_id IF NOT EXISTS
FOR (migration:Migration)
REQUIRE migration.id IS UNIQUE
