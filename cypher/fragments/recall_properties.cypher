// A recall as it is shown.

recall_id: recall.id,
.memory_id,
.persona_id,
.response,
.valence,
.surfaced_by,
.by,
.recalled_at
