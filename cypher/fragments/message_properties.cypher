// A message as it is shown, with the flag that it has or had last.

.id,
.conversation_id,
.persona_id,
.role,
.content,
.said_at,
.user_id,
.speaker,
.reply_to,
flag:
  COLLECT {
    MATCH (flag:Flag {tenant_id: $tenant_id, id: message.flag_id})
    RETURN flag {.*}
  }[0]
