// A message as a persona's context holds it: of a flagged one, that it was flagged, and not what it said.

.id,
.arrival,
.role,
.speaker,
.user_id,
.said_at,
.reply_to,
source_id: coalesce(message.copied_from, message.id),
flagged: coalesce(message.flagged, false),
content: CASE WHEN NOT coalesce(message.flagged, false) THEN message.content END
