// Whether a candidate or a memory is one that a recall asks for.

item.tenant_id = $tenant_id AND
item.persona_id = $persona_id AND
item.flagged = $flagged AND
item.state IN $states AND
item.memory_type IN $types AND
item.said_at >= $from_at AND
item.said_at <= $to_at AND
(item.valid_to IS NULL OR item.valid_to > $as_of OR item.fact = $past_fact) AND
($categories IS NULL OR item.category IN $categories) AND
($tags IS NULL OR all(tag IN $tags WHERE tag IN coalesce(item.tags, []))) AND
($project IS NULL OR item.project = $project)
