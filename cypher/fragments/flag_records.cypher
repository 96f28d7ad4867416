// The messages that were asked for with the flag that each has or had last, in the order given.

CALL () {
  UNWIND range(0, size($message_ids) - 1) AS place
  MATCH
    (message:Message {
      tenant_id: $tenant_id,
      id: $message_ids[place],
      conversation_id: $conversation_id
    })
  // Looked up one by one: without this, a plan may join all flags of the tenant.
  WITH message, place, message.flag_id AS flag_id
  MATCH (flag:Flag {tenant_id: $tenant_id, id: flag_id})
  WITH message, flag, place
  ORDER BY place
  RETURN collect({message_id: message.id, flag: flag {.*}}) AS records
}
