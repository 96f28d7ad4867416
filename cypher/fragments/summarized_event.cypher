// Tell everybody in a conversation that summaries of checkpoints have changed, and not who has flagged.

FOREACH (changed IN CASE WHEN checkpoint_ids = [] THEN [] ELSE [1] END |
  SET conversation.events = conversation.events + 1
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      conversation_id: $conversation_id,
      place: conversation.events,
      id: $act.id + '-summaries',
      effect_of: $act.id,
      action: 'summarized',
      by: 'engine',
      at: $act.at,
      written_at: datetime.realtime(),
      checkpoint_ids: checkpoint_ids
    })
)
