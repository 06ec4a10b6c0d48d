-- Webhooks, their deliveries and attempts, and the feed of events (decision 0017).

CREATE TABLE webhooks (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  url text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2048),
  events text[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 4 AND
    events <@ ARRAY['message.received', 'message.sent', 'message.delivered', 'message.failed']),
  -- Only events of this number, by its digits: a number that is deleted and connected again is the same to its team.
  phone_number text,
  is_active boolean NOT NULL DEFAULT true,
  -- Failed attempts in a row, of all deliveries, since it was last enabled or got its url. The tenth disables.
  failure_count smallint NOT NULL DEFAULT 0 CHECK (failure_count BETWEEN 0 AND 10),
  -- Raised by each enabling and each new url: what was begun in an earlier one counts no more.
  term integer NOT NULL DEFAULT 1,
  disabled_at timestamptz,
  disabled_by text CHECK (disabled_by IN ('member', 'failures')),
  -- Encrypted with SECRETS_KEY. While a rotation runs there are two; the next one takes over at the latest then.
  secret bytea NOT NULL,
  next_secret bytea,
  next_secret_from timestamptz,
  last_triggered_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, id),
  -- What waits is found by the webhook alone.
  UNIQUE (id),
  CONSTRAINT rotation_has_its_end CHECK ((next_secret IS NULL) = (next_secret_from IS NULL)),
  CONSTRAINT disabled_has_reason CHECK (is_active = (disabled_at IS NULL) AND is_active = (disabled_by IS NULL)),
  CONSTRAINT tenth_failure_disables CHECK (failure_count < 10 OR NOT is_active)
);

-- One event to one webhook, from the moment that the event was written; a test has no event.
CREATE TABLE deliveries (
  team_id uuid NOT NULL REFERENCES teams (id),
  -- Its event's, with a count in place of the last 32 bits: deliveries sort as their events do. A test has one of its own.
  id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  is_test boolean NOT NULL DEFAULT false,
  status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'skipped')),
  -- How many attempts were made, whatever came of them.
  attempt_count integer NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  -- Once a receiver has taken it, it has it, whatever becomes of later attempts; the log of attempts is forgotten earlier.
  succeeded_at timestamptz,
  PRIMARY KEY (team_id, id),
  CONSTRAINT succeeded_has_time CHECK (status <> 'succeeded' OR succeeded_at IS NOT NULL),
  CONSTRAINT pending_is_open CHECK ((status = 'pending') = (finished_at IS NULL))
) PARTITION BY RANGE (id);
CREATE INDEX deliveries_of_webhook ON deliveries (team_id, webhook_id, id);
CREATE TABLE deliveries_unplaced PARTITION OF deliveries DEFAULT;

-- One HTTP try of a delivery.
CREATE TABLE attempts (
  team_id uuid NOT NULL REFERENCES teams (id),
  delivery_id uuid NOT NULL,
  id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL CHECK (duration_ms >= 0),
  -- succeeded, or the class of the failure (contract/webhook.ts).
  outcome text NOT NULL,
  status_code smallint,
  -- Where it was sent: a webhook's url may have changed since.
  url text NOT NULL,
  -- At most 16 KB of what was answered, as it came.
  response_body bytea,
  response_truncated boolean NOT NULL DEFAULT false,
  -- Whether it counted for failure_count: one that is redelivered, a test, or one of an earlier term does not.
  is_counted boolean NOT NULL,
  PRIMARY KEY (team_id, delivery_id, id),
  CONSTRAINT response_is_capped CHECK (octet_length(response_body) <= 16384)
) PARTITION BY RANGE (id);
-- By age: the log is kept for a while only.
CREATE INDEX attempts_by_age ON attempts USING brin (id);
CREATE TABLE attempts_unplaced PARTITION OF attempts DEFAULT;

-- What waits for an attempt: history stays apart (decision 0004). Deleted once nothing more is to be tried.
CREATE SEQUENCE due_deliveries_seq AS bigint CACHE 1;
CREATE TABLE due_deliveries (
  webhook_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  team_id uuid NOT NULL,
  event_id uuid NOT NULL,
  -- live: first attempts; retry: later ones; replay: what was asked for again, behind both; single: one attempt on
  -- request, which counts for nothing and is made while the webhook is disabled, too.
  lane text NOT NULL DEFAULT 'live' CHECK (lane IN ('live', 'retry', 'replay', 'single')),
  -- The next attempt of this round, 1 to 4.
  attempt smallint NOT NULL DEFAULT 1 CHECK (attempt BETWEEN 1 AND 4),
  due_at timestamptz NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('due_deliveries_seq'),
  -- The offsets of later attempts count from here.
  first_started_at timestamptz,
  -- In the hands of a process until then; past it the process counts as dead and the attempt is made again. The token
  -- is of one claim: a result that comes with another one changes nothing.
  leased_until timestamptz,
  lease bigint,
  -- The sample of a test, which is no event.
  body text,
  PRIMARY KEY (webhook_id, delivery_id),
  CONSTRAINT leased_by_somebody CHECK ((leased_until IS NULL) = (lease IS NULL))
);
CREATE SEQUENCE lease_seq AS bigint;
-- Each webhook's lanes by themselves, so that no webhook's backlog stands before another's.
CREATE INDEX due_deliveries_order ON due_deliveries (webhook_id, lane, due_at, seq);

-- Events that have no position in the feed yet, in the order in which they were written. The publisher takes them.
CREATE SEQUENCE unpublished_events_seq AS bigint CACHE 1;
CREATE TABLE unpublished_events (
  seq bigint PRIMARY KEY DEFAULT nextval('unpublished_events_seq'),
  team_id uuid NOT NULL,
  event_id uuid NOT NULL
);

-- The feed: positions are given by one publisher at a time, in the order of its commits, so that no row appears
-- behind a reader.
CREATE SEQUENCE event_feed_position AS bigint CACHE 1;
CREATE TABLE event_feed (
  team_id uuid NOT NULL,
  position bigint NOT NULL DEFAULT nextval('event_feed_position'),
  event_id uuid NOT NULL,
  PRIMARY KEY (team_id, position)
);
CREATE UNIQUE INDEX event_feed_of_event ON event_feed (team_id, event_id);

-- Events of before are published in the order of their ids, and have no deliveries: there was nobody to deliver to.
INSERT INTO unpublished_events (team_id, event_id) SELECT team_id, id FROM events ORDER BY id;
