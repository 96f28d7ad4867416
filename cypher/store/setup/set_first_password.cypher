// Replace the password a new Neo4j comes with. Runs in the system database, as the user it is for.
//
// $password  string
CYPHER 25
ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password
