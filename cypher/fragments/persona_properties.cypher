// A persona as it is shown.

.id,
.name,
.identity,
.tone,
.time_zone,
.created_at,
.updated_at
