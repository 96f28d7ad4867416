// The members of an instance, by user id.
//
// $tenant_id    string
// $instance_id  string
// $after        string, the last user id of the previous page, or ''
// $limit        integer
//
// Returns member.
CYPHER 25
MATCH (:Instance {tenant_id: $tenant_id, id: $instance_id})<-[membership:MEMBER_OF]-(user:User)
WHERE user.id > $after
RETURN {user_id: user.id, role: membership.role, since: membership.since} AS member
ORDER BY user.id
LIMIT $limit
