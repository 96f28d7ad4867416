// Find the runs of a persona by the time they were run for.
CYPHER 25
CREATE INDEX run_order IF NOT EXISTS
FOR (run:Run)
ON (run.tenant_id, run.persona_id, run.as_of)
