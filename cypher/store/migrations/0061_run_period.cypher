// A persona has one night a day and one fading an hour. One that was undone holds nothing.
CYPHER 25
CREATE CONSTRAINT run_period IF NOT EXISTS
FOR (run:Run)
REQUIRE (run.tenant_id, run.persona_id, run.holds) IS UNIQUE
