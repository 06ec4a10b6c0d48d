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
  PRIMARY KEY (team_id, id),
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
