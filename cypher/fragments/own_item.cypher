// Whether a candidate or a memory is the caller's to change, if they may see it: for a user, if one of its
// messages is theirs or of an instance they are an admin of.

($user_id IS NULL OR
  EXISTS {
    MATCH
      (item)-[:DRAWN_FROM]->(message)
        <-[:CONTAINS]-()<-[:HOLDS]-()
        <-[member:MEMBER_OF]-({id: $user_id})
    WHERE message.user_id = $user_id OR member.role = 'admin'
  })
