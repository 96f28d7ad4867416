// The change log: what has changed among the items of a persona, numbered in the order of commits.
//
// Each statement may run twice (IF NOT EXISTS). Neo4j Browser takes the file as it is.

// A persona has one change log.
CREATE CONSTRAINT change_log_persona IF NOT EXISTS
FOR (log:ChangeLog)
REQUIRE (log.tenant_id, log.persona_id) IS UNIQUE;

// Changes of a persona are numbered, and read from a number on.
CREATE CONSTRAINT change_revision IF NOT EXISTS
FOR (change:Change)
REQUIRE (change.tenant_id, change.persona_id, change.revision) IS UNIQUE;
