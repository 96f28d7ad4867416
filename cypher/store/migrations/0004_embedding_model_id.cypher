// A graph holds the vectors of one model.
CYPHER 25
CREATE CONSTRAINT embedding_model_id IF NOT EXISTS
FOR (model:EmbeddingModel)
REQUIRE model.id IS UNIQUE
