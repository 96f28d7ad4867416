// What makes an archived memory active again at $event.at. It counts as an access, so that no night archives it again.

memory.state = 'active',
memory.salience = CASE WHEN memory.salience > 0.5 THEN 1.0 ELSE memory.salience * 2 END,
memory.access_count = memory.access_count + 1,
memory.accessed_at = $event.at,
memory.idle_since = $event.at,
memory.idle_importance = memory.importance,
memory.fades_at = $event.at
