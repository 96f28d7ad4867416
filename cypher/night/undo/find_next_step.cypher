// The last step of a run that is not undone yet.
//
// $tenant_id  string
// $run_id     string
//
// Returns place, stage, kind, changes; nothing when all are.
CYPHER 25
MATCH (step:Step)
WHERE
  step.tenant_id = $tenant_id AND
  step.run_id = $run_id AND
  step.place IS NOT NULL AND // an index is used only if the condition names all its properties
  step.undone_at IS NULL
RETURN step.place AS place, step.stage AS stage, step.kind AS kind, step.changes AS changes
ORDER BY place DESC
LIMIT 1
