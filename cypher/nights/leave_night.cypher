// Step out of a night that failed, so that the next try need not wait for the lease.
//
// $tenant_id   string
// $persona_id  string
// $day         date
// $worker      string, the one that opened it
CYPHER 25
MATCH (night:Night {tenant_id: $tenant_id, persona_id: $persona_id, day: $day})
WHERE night.worker = $worker
REMOVE night.worker, night.lease_until
