// The identity provider whose JWTs a tenant accepts.
//
// $tenant_id  string
//
// Returns provider; nothing when the tenant accepts none.
CYPHER 25
MATCH (provider:IdentityProvider {tenant_id: $tenant_id})
RETURN
  provider {
    .issuer,
    .audience,
    .algorithms,
    .jwks_url,
    .public_keys,
    .updated_at
  } AS provider
