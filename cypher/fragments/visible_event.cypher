// Whether a viewer may know of an event about something: of flags and their undos only what they did
// themselves, what took back a flag of theirs, and all in an instance they are an admin of.

($viewer IS NULL OR
  NOT event.action IN ['flagged', 'unflagged'] OR
  event.by = $viewer OR
  EXISTS {
    MATCH (about)<-[:FLAGS]-(flag:Flag)
    WHERE flag.reversed_in = event.id AND flag.flagged_by = $viewer
  } OR
  EXISTS {
    (about)<-[:CONTAINS]-()<-[:HOLDS]-()<-[:MEMBER_OF {role: 'admin'}]-({id: $viewer})
  })
