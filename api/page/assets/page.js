// Swagger UI over the document of this API. `validatorUrl: null`: nothing is sent to a validator.
SwaggerUIBundle({
  url: "/schema/openapi.json",
  dom_id: "#page",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  filter: true,
  validatorUrl: null,
});
