// The steps of a run, in the order they were done.
CYPHER 25
CREATE CONSTRAINT step_place IF NOT EXISTS
FOR (step:Step)
REQUIRE (step.tenant_id, step.run_id, step.place) IS UNIQUE
