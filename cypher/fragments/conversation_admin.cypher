// Whether a user is an admin of the instance of a conversation.

EXISTS { (conversation)<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $user_id}) } AS is_admin
