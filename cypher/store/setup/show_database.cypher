// Whether a database is open. Run in the system database, which answers when others do not.
//
// $name  string
//
// Returns status: online, or offline when it could not be opened; message: what it met, or ''.
CYPHER 25
SHOW DATABASES
YIELD name, currentStatus, statusMessage
WHERE name = $name
RETURN currentStatus AS status, statusMessage AS message
