// The full-text index over memories and candidates. The search_scope holds the tenant and the persona as one
// word, so that a search stays inside the persona.
//
// $analyzer  string, one of Lucene's
CYPHER 25
CREATE FULLTEXT INDEX words IF NOT EXISTS
FOR (memory:Candidate|Memory)
ON EACH [memory.text, memory.search_scope]
OPTIONS {indexConfig: {`fulltext.analyzer`: $analyzer}}
