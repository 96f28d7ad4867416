// The constraints and indexes of the graph, all that there were before the first release.
//
// Each statement may run twice (IF NOT EXISTS). Neo4j Browser takes the file as it is.

// ── The deployment ──────────────────────────────────────────────────────────────────────────────────

// A migration is recorded once.
CREATE CONSTRAINT migration_id IF NOT EXISTS
FOR (migration:Migration)
REQUIRE migration.id IS UNIQUE;

// An engine has one deployment.
CREATE CONSTRAINT deployment_id IF NOT EXISTS
FOR (deployment:Deployment)
REQUIRE deployment.id IS UNIQUE;

// The engine has one clock.
CREATE CONSTRAINT clock_id IF NOT EXISTS
FOR (clock:Clock)
REQUIRE clock.id IS UNIQUE;

// A graph holds the vectors of one model.
CREATE CONSTRAINT embedding_model_id IF NOT EXISTS
FOR (model:EmbeddingModel)
REQUIRE model.id IS UNIQUE;

// ── Tenants, their keys, tokens and users ───────────────────────────────────────────────────────────

// A tenant is known by its id.
CREATE CONSTRAINT tenant_id IF NOT EXISTS
FOR (tenant:Tenant)
REQUIRE tenant.id IS UNIQUE;

// A key is known by the public part of its text, before its tenant is known.
CREATE CONSTRAINT api_key_id IF NOT EXISTS
FOR (key:ApiKey)
REQUIRE key.id IS UNIQUE;

// A user token is known by the public part of its text, before its tenant is known.
CREATE CONSTRAINT user_token_id IF NOT EXISTS
FOR (token:UserToken)
REQUIRE token.id IS UNIQUE;

// Find the expired tokens of a tenant, to delete them.
CREATE INDEX user_token_expiry IF NOT EXISTS
FOR (token:UserToken)
ON (token.tenant_id, token.expires_at);

// A tenant trusts one identity provider.
CREATE CONSTRAINT identity_provider_tenant IF NOT EXISTS
FOR (provider:IdentityProvider)
REQUIRE provider.tenant_id IS UNIQUE;

// Users are known by tenant and the id their own system gave them.
CREATE CONSTRAINT user_id IF NOT EXISTS
FOR (user:User)
REQUIRE (user.tenant_id, user.id) IS UNIQUE;

// ── Instances and personas ──────────────────────────────────────────────────────────────────────────

// Instances are known by tenant and id.
CREATE CONSTRAINT instance_id IF NOT EXISTS
FOR (instance:Instance)
REQUIRE (instance.tenant_id, instance.id) IS UNIQUE;

// Ids are unique within a tenant, so that ids of two tenants never collide.
CREATE CONSTRAINT persona_id IF NOT EXISTS
FOR (persona:Persona)
REQUIRE (persona.tenant_id, persona.id) IS UNIQUE;

// Find the personas whose night is due.
CREATE INDEX persona_next_night_at IF NOT EXISTS
FOR (persona:Persona)
ON (persona.next_night_at);

// Find the personas that are still being copied. Only they have the property.
CREATE INDEX persona_copying IF NOT EXISTS
FOR (persona:Persona)
ON (persona.copying);

// ── Conversations and messages ──────────────────────────────────────────────────────────────────────

// Conversations are known by tenant and id.
CREATE CONSTRAINT conversation_id IF NOT EXISTS
FOR (conversation:Conversation)
REQUIRE (conversation.tenant_id, conversation.id) IS UNIQUE;

// List the conversations of an instance by id, a page at a time.
CREATE INDEX conversation_instance IF NOT EXISTS
FOR (conversation:Conversation)
ON (conversation.tenant_id, conversation.instance_id, conversation.id);

// A message is recorded once, however often it arrives.
CREATE CONSTRAINT message_id IF NOT EXISTS
FOR (message:Message)
REQUIRE (message.tenant_id, message.id) IS UNIQUE;

// Find an earlier message of a conversation with the same text.
CREATE INDEX message_fingerprint IF NOT EXISTS
FOR (message:Message)
ON (message.tenant_id, message.conversation_id, message.fingerprint);

// Find, in any conversation, the messages that candidates are still to be drawn from. Only they have the property.
CREATE INDEX message_waiting IF NOT EXISTS
FOR (message:Message)
ON (message.waiting_since);

// Find the messages of a conversation that are in no checkpoint yet.
CREATE INDEX message_uncovered IF NOT EXISTS
FOR (message:Message)
ON (message.tenant_id, message.conversation_id, message.uncovered_since);

// Find, in any conversation, the messages that wait too long for a checkpoint. Only they have the property.
CREATE INDEX message_uncovered_since IF NOT EXISTS
FOR (message:Message)
ON (message.uncovered_since);

// Read a conversation in its order, by time and then by arrival, a page at a time.
CREATE INDEX message_order IF NOT EXISTS
FOR (message:Message)
ON (message.tenant_id, message.conversation_id, message.said_at, message.arrival);

// Find the same messages of one conversation.
CREATE INDEX message_waiting_in IF NOT EXISTS
FOR (message:Message)
ON (message.tenant_id, message.conversation_id, message.waiting_since);

// ── Checkpoints and their summaries ─────────────────────────────────────────────────────────────────

// Checkpoints are known by tenant and id.
CREATE CONSTRAINT checkpoint_id IF NOT EXISTS
FOR (checkpoint:Checkpoint)
REQUIRE (checkpoint.tenant_id, checkpoint.id) IS UNIQUE;

// Read the checkpoints of a conversation in order, and find its newest.
CREATE INDEX checkpoint_order IF NOT EXISTS
FOR (checkpoint:Checkpoint)
ON (checkpoint.tenant_id, checkpoint.conversation_id, checkpoint.from_at);

// A former summary of a checkpoint is kept once.
CREATE CONSTRAINT summary_id IF NOT EXISTS
FOR (summary:Summary)
REQUIRE (summary.tenant_id, summary.id) IS UNIQUE;

// ── Candidates ──────────────────────────────────────────────────────────────────────────────────────

// A candidate is drawn once, however often its message is read.
CREATE CONSTRAINT candidate_id IF NOT EXISTS
FOR (candidate:Candidate)
REQUIRE (candidate.tenant_id, candidate.id) IS UNIQUE;

// List a persona's candidates of one state, in the order they were drawn.
CREATE INDEX candidate_state IF NOT EXISTS
FOR (candidate:Candidate)
ON (candidate.tenant_id, candidate.persona_id, candidate.state, candidate.id);

// Take a persona's candidates into the night in the order they were said.
CREATE INDEX candidate_order IF NOT EXISTS
FOR (candidate:Candidate)
ON (candidate.tenant_id, candidate.persona_id, candidate.state, candidate.said_at, candidate.id);

// Find the candidates for a fact, in the order they were said.
CREATE INDEX candidate_fact_order IF NOT EXISTS
FOR (candidate:Candidate)
ON (candidate.tenant_id, candidate.persona_id, candidate.fact, candidate.said_at);

// List the candidates of a tenant in the order they were said.
CREATE INDEX candidate_time IF NOT EXISTS
FOR (candidate:Candidate)
ON (candidate.tenant_id, candidate.said_at, candidate.id);

// ── Memories and their uses ─────────────────────────────────────────────────────────────────────────

// Memories are known by tenant and id: the id of the candidate they came from.
CREATE CONSTRAINT memory_id IF NOT EXISTS
FOR (memory:Memory)
REQUIRE (memory.tenant_id, memory.id) IS UNIQUE;

// List a persona's memories of one state.
CREATE INDEX memory_state IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.state, memory.id);

// Find the memories from just before and just after in a conversation.
CREATE INDEX memory_sequence IF NOT EXISTS
FOR (memory:Memory)
ON (
  memory.tenant_id,
  memory.persona_id,
  memory.conversation_id,
  memory.memory_type,
  memory.said_at,
  memory.id
);

// Find the memories of a fact.
CREATE INDEX memory_fact IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.fact);

// Find the memories that wait for a stage of a run. Only they have the property.
CREATE INDEX memory_awaits IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.awaits, memory.said_at, memory.id);

// Find the memories used together since the last night. Only they have the property.
CREATE INDEX memory_stirred IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.stirred_at);

// Find the memories whose importance or archiving is due to be computed again.
CREATE INDEX memory_fades IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.fades_at);

// Find the memories with a weak link that is due to be checked. Only they have the property.
CREATE INDEX memory_prune IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.prune_at);

// Find the copy of a memory in a persona that was duplicated.
CREATE INDEX memory_copied_from IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.copied_from);

// List the newest memories of a persona.
CREATE INDEX memory_order IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.state, memory.said_at);

// Find the pinned memories of a persona.
CREATE INDEX memory_pinned IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.pinned);

// Find a persona's memories of a project.
CREATE INDEX memory_project IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.project);

// Count the memories of a persona without reading any: all that they are grouped by is in the index.
CREATE INDEX memory_count IF NOT EXISTS
FOR (memory:Memory)
ON (
  memory.tenant_id,
  memory.persona_id,
  memory.state,
  memory.memory_type,
  memory.importance,
  memory.salience,
  memory.pinned,
  memory.minimized
);

// Find the memories with a feeling. Only they have the property.
CREATE INDEX memory_feeling IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.state, memory.valence);

// The same, in the order they were said.
CREATE INDEX memory_fact_order IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.fact, memory.said_at);

// List the memories of a tenant in the order they were said.
CREATE INDEX memory_time IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.said_at, memory.id);

// Find a persona's memories with any tag; an index cannot look into the list of tags.
CREATE INDEX memory_tagged IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.tagged);

// List a persona's memories of one state by importance.
CREATE INDEX memory_importance IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.state, memory.importance, memory.id);

// List a persona's memories of one state by salience.
CREATE INDEX memory_salience IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.state, memory.salience, memory.id);

// A use of memories is counted once, however often it is reported.
CREATE CONSTRAINT use_id IF NOT EXISTS
FOR (use:Use)
REQUIRE (use.tenant_id, use.persona_id, use.id) IS UNIQUE;

// Find the uses that are too old to be reported again.
CREATE INDEX use_time IF NOT EXISTS
FOR (use:Use)
ON (use.tenant_id, use.persona_id, use.used_at);

// ── Flags, ranges and acknowledgments ───────────────────────────────────────────────────────────────

// A flag is set once, however often it is sent.
CREATE CONSTRAINT flag_id IF NOT EXISTS
FOR (flag:Flag)
REQUIRE (flag.tenant_id, flag.id) IS UNIQUE;

// Find the flags that one acknowledgment answers.
CREATE INDEX flag_acknowledgment IF NOT EXISTS
FOR (flag:Flag)
ON (flag.tenant_id, flag.acknowledgment_id);

// Ranges are known by tenant and id.
CREATE CONSTRAINT range_id IF NOT EXISTS
FOR (range:Range)
REQUIRE (range.tenant_id, range.id) IS UNIQUE;

// Acknowledgments are known by tenant and id.
CREATE CONSTRAINT acknowledgment_id IF NOT EXISTS
FOR (acknowledgment:Acknowledgment)
REQUIRE (acknowledgment.tenant_id, acknowledgment.id) IS UNIQUE;

// ── Events: the audit, and what streams tell ────────────────────────────────────────────────────────

// An event is written once.
CREATE CONSTRAINT event_id IF NOT EXISTS
FOR (event:Event)
REQUIRE (event.tenant_id, event.id) IS UNIQUE;

// Events of a conversation are numbered, in the order they were written.
CREATE CONSTRAINT event_place IF NOT EXISTS
FOR (event:Event)
REQUIRE (event.tenant_id, event.conversation_id, event.place) IS UNIQUE;

// Read the audit of a tenant in order.
CREATE INDEX event_time IF NOT EXISTS
FOR (event:Event)
ON (event.tenant_id, event.written_at, event.id);

// ── Runs of a persona, and their steps ──────────────────────────────────────────────────────────────

// Runs are known by tenant and id.
CREATE CONSTRAINT run_id IF NOT EXISTS
FOR (run:Run)
REQUIRE (run.tenant_id, run.id) IS UNIQUE;

// A persona has one night a day and one fading run an hour. A run that was undone holds no period.
CREATE CONSTRAINT run_period IF NOT EXISTS
FOR (run:Run)
REQUIRE (run.tenant_id, run.persona_id, run.holds) IS UNIQUE;

// Find the runs of a persona by the time they were run for.
CREATE INDEX run_order IF NOT EXISTS
FOR (run:Run)
ON (run.tenant_id, run.persona_id, run.as_of);

// Steps of a run are numbered, in the order they were done.
CREATE CONSTRAINT step_place IF NOT EXISTS
FOR (step:Step)
REQUIRE (step.tenant_id, step.run_id, step.place) IS UNIQUE;
