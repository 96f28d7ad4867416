// The analyzer of the full-text index, if there is one.
//
// Returns analyzer.
CYPHER 25
SHOW FULLTEXT INDEXES
YIELD name, options
WHERE name = 'words'
RETURN options['indexConfig']['fulltext.analyzer'] AS analyzer
