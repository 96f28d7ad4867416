// A user token is known by the public part of its text, before its tenant is known.
CYPHER 25
CREATE CONSTRAINT user_token_id IF NOT EXISTS
FOR (token:UserToken)
REQUIRE token.id IS UNIQUE
