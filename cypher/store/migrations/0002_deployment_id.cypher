// An engine has one deployment.
CYPHER 25
CREATE CONSTRAINT deployment_id IF NOT EXISTS
FOR (deployment:Deployment)
REQUIRE deployment.id IS UNIQUE
