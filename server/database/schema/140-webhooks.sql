-- Webhooks, their deliveries and attempts (decision 0017).
CREATE TABLE webhooks (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  url text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2048),
  events text[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 8 AND
    events <@ ARRAY['message.received', 'message.sent', 'message.delivered', 'message.failed',
      'contact.opted_out', 'contact.opted_in', 'number.offline', 'number.online']),
  -- If set, only events of this phone number are sent. It is no id, because a number may be deleted and connected
  -- again.
  phone_number text,
  is_active boolean NOT NULL DEFAULT true,
  -- Failed attempts in a row, of all deliveries, since the webhook was last enabled or got its url. The tenth disables
  -- the webhook.
  failure_count smallint NOT NULL DEFAULT 0 CHECK (failure_count BETWEEN 0 AND 10),
  -- Raised whenever the webhook is enabled or gets a new url. Failures of attempts of an earlier generation are not
  -- counted.
  generation integer NOT NULL DEFAULT 1,
  disabled_at timestamptz,
  disabled_by text CHECK (disabled_by IN ('member', 'failures')),
  -- Secrets, encrypted with SECRETS_KEY. During a rotation there are two; the next secret replaces the first at
  -- next_secret_from at the latest.
  secret bytea NOT NULL,
  next_secret bytea,
  next_secret_from timestamptz,
  last_triggered_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, id),
  -- The queue of deliveries finds a webhook by its id alone.
  UNIQUE (id),
  CONSTRAINT rotation_has_its_end CHECK ((next_secret IS NULL) = (next_secret_from IS NULL)),
  CONSTRAINT disabled_has_reason CHECK (is_active = (disabled_at IS NULL) AND is_active = (disabled_by IS NULL)),
  CONSTRAINT tenth_failure_disables CHECK (failure_count < 10 OR NOT is_active)
);
COMMENT ON TABLE webhooks IS
  'team; not erased; kept until deleted; no person; in backups. Addresses that events are sent to.';

-- A delivery of one event to one webhook, written with the event; a test delivery has no event. No foreign key refers
-- to events, because it would need an index of its own. The slice events inserts deliveries in the statement that
-- inserts the event (outbox).
CREATE TABLE deliveries (
  team_id uuid NOT NULL REFERENCES teams (id),
  -- The event's id with a count in place of the last 32 bits, so that deliveries sort as their events do. A test
  -- delivery has a new id.
  id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  is_test boolean NOT NULL DEFAULT false,
  status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'skipped')),
  -- How many attempts were made, whatever their outcome.
  attempt_count integer NOT NULL DEFAULT 0 CHECK (attempt_count >= 0),
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  -- When a receiver first accepted the delivery. Later attempts do not clear it. It is stored here, because attempts
  -- are purged earlier.
  succeeded_at timestamptz,
  -- True once the event and the responses to it were erased. An attempt that was in progress then stores no response.
  is_erased boolean NOT NULL DEFAULT false,
  CONSTRAINT succeeded_has_time CHECK (status <> 'succeeded' OR succeeded_at IS NOT NULL),
  CONSTRAINT pending_is_open CHECK ((status = 'pending') = (finished_at IS NULL))
  -- A delivery is updated once, at its end. With free space on its page, that update needs no new index entry
  -- (decision 0017).
) WITH (fillfactor = 80);
COMMENT ON TABLE deliveries IS
  'team; not erased; kept for RETENTION_DAYS; no person; in backups; also written by events. An event for a webhook.';
CREATE INDEX deliveries_of_webhook ON deliveries (team_id, webhook_id, id);
-- Created last, for the same reason as the primary key of messages.
ALTER TABLE deliveries ADD PRIMARY KEY (team_id, id);

CREATE TABLE attempts (
  team_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  id uuid NOT NULL,
  started_at timestamptz NOT NULL,
  duration_ms integer NOT NULL CHECK (duration_ms >= 0),
  -- succeeded, or the class of the failure (contract/webhook.ts).
  outcome text NOT NULL,
  status_code smallint,
  -- The URL to which the request was sent; the webhook's url may have changed since.
  url text NOT NULL,
  -- At most 16 KB of the response, as received.
  response_body bytea,
  response_truncated boolean NOT NULL DEFAULT false,
  -- Whether the attempt counted for failure_count. A redelivery, a test and an attempt of an earlier generation do not
  -- count.
  is_counted boolean NOT NULL,
  PRIMARY KEY (team_id, delivery_id, id),
  FOREIGN KEY (team_id, delivery_id) REFERENCES deliveries (team_id, id) ON DELETE CASCADE,
  CONSTRAINT response_is_capped CHECK (octet_length(response_body) <= 16384)
);
COMMENT ON TABLE attempts IS
  'team; erased by handle; kept for DELIVERY_LOG_DAYS; a person; in backups. A request of a delivery, and the answer to it.';

-- The queue of deliveries that wait for an attempt (decision 0004). A row is deleted after its last attempt. It is
-- updated once, by its claim; because of the free space on its page, that update needs no new index entry.
CREATE SEQUENCE due_deliveries_seq AS bigint CACHE 1;
CREATE TABLE due_deliveries (
  webhook_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  team_id uuid NOT NULL,
  event_id uuid NOT NULL,
  -- live: first attempts; retry: later attempts; replay: deliveries of a replay, after both; manual: one attempt on
  -- request, which is not counted and is made even if the webhook is disabled.
  lane text NOT NULL DEFAULT 'live' CHECK (lane IN ('live', 'retry', 'replay', 'manual')),
  -- The next attempt of this round, 1 to 4.
  attempt smallint NOT NULL DEFAULT 1 CHECK (attempt BETWEEN 1 AND 4),
  due_at timestamptz NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('due_deliveries_seq'),
  -- When the first attempt began. The offsets of later attempts count from this time.
  first_started_at timestamptz,
  -- When the lease of a process ends; after that the process counts as dead and the attempt is made again. `lease`
  -- identifies the claim: a result of an earlier claim changes nothing.
  leased_until timestamptz,
  lease bigint,
  -- The body of a test delivery, which has no event.
  body text,
  PRIMARY KEY (webhook_id, delivery_id),
  CONSTRAINT leased_by_somebody CHECK ((leased_until IS NULL) = (lease IS NULL))
) WITH (fillfactor = 50);
COMMENT ON TABLE due_deliveries IS
  'team; not erased; kept while needed; no person; in backups; also written by events. Deliveries that wait for an attempt.';
CREATE SEQUENCE lease_seq AS bigint;
-- One index for each lane, which claims read in order. With a single index, a plan made while the queue was empty used
-- that index to look up single deliveries. So it read all waiting deliveries of the webhook.
CREATE INDEX due_deliveries_live ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'live';
CREATE INDEX due_deliveries_retry ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'retry';
CREATE INDEX due_deliveries_replay ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'replay';
CREATE INDEX due_deliveries_manual ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'manual';

-- Erased events whose stored responses are erased next, in batches (specification section 12.14).
CREATE TABLE erased_events (
  team_id uuid NOT NULL REFERENCES teams (id),
  event_id uuid NOT NULL,
  PRIMARY KEY (team_id, event_id)
);
COMMENT ON TABLE erased_events IS
  'team; not erased; kept while needed; no person; in backups. Erased events whose answers are erased next.';
