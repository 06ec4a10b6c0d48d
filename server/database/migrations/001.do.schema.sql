-- The schema of the first release. docs/architecture.md lists the invariants, and which slice owns which table.
-- Times come from the application's clock: nothing here calls now() (decision 0007).

-- ── instance ────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE instance (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  secrets_key_fingerprint bytea NOT NULL
);

-- ── accounts ────────────────────────────────────────────────────────────────────────────────────────────────────────

-- A person, by their address. Only a link that was sent to the address or made by the operator creates one.
CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  -- The address as it is compared: one account for each.
  normalized_email text NOT NULL UNIQUE CHECK (char_length(normalized_email) BETWEEN 3 AND 254),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  -- argon2id, in the PHC form; without one the account signs in by magic link or passkey.
  password_hash text,
  -- The first use of a link that only reaches the address, or that the operator made. NULL before: another person may have
  -- created the account, after they were shown its invitation.
  email_verified_at timestamptz,
  created_at timestamptz NOT NULL,
  -- Device cookies that were set earlier are not accepted; NULL: all are.
  device_cookies_valid_from timestamptz
);

-- The sessions of browsers. Signing out deletes the row.
CREATE TABLE account_sessions (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  method text NOT NULL CHECK (method IN ('link', 'password', 'passkey', 'invitation')),
  ip text NOT NULL,
  user_agent text NOT NULL CHECK (char_length(user_agent) <= 300),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX account_sessions_account ON account_sessions (account_id);
CREATE INDEX account_sessions_expiry ON account_sessions (expires_at);

-- One use each, by UPDATE … RETURNING.
CREATE TABLE magic_links (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX magic_links_account ON magic_links (account_id);
CREATE INDEX magic_links_expiry ON magic_links (expires_at);

CREATE TABLE passkeys (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  credential_id bytea NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL CHECK (counter >= 0),
  transports text[] NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX passkeys_account ON passkeys (account_id);

-- A challenge that a passkey signs: one use each, by DELETE … RETURNING. Without an account it is for signing in.
CREATE TABLE passkey_challenges (
  challenge_hash bytea PRIMARY KEY CHECK (octet_length(challenge_hash) = 32),
  account_id uuid REFERENCES accounts (id),
  expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at);

-- Throttles, counted per subject (an address, a client network, both) and window: failed passwords, magic links, mail of
-- invitations. A crash may forget them.
CREATE UNLOGGED TABLE throttle_counters (
  subject bytea NOT NULL CHECK (octet_length(subject) = 32),
  window_start timestamptz NOT NULL,
  hits integer NOT NULL CHECK (hits > 0),
  PRIMARY KEY (subject, window_start)
);

-- ── teams ───────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE teams (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  plan text NOT NULL CHECK (plan IN ('free', 'starter', 'pro', 'enterprise')),
  monthly_message_limit bigint NOT NULL CHECK (monthly_message_limit >= 0),
  created_at timestamptz NOT NULL
);

-- A person in a team; the spec's usr_ id. A row that was removed stays, because keys and the audit log name it.
CREATE TABLE members (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  account_id uuid NOT NULL REFERENCES accounts (id),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz NOT NULL,
  removed_at timestamptz,
  PRIMARY KEY (team_id, id),
  UNIQUE (id)
);
CREATE UNIQUE INDEX members_one_per_account ON members (team_id, account_id) WHERE removed_at IS NULL;
CREATE INDEX members_account ON members (account_id) WHERE removed_at IS NULL;

-- A link that makes a member. Only the link of an owner, which the operator makes, may be bound to no address.
CREATE TABLE invitations (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  email text,
  normalized_email text CHECK (char_length(normalized_email) BETWEEN 3 AND 254),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  -- NULL if an API key or the operator made it.
  invited_by uuid,
  -- True if only the owner of the address can have the link: it was mailed, or made by the operator. False if it was shown.
  verifies_email boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  revoked_at timestamptz,
  -- The form that accepted it and the account that did: a second submit of the same form signs in as well.
  form_token_hash bytea CHECK (octet_length(form_token_hash) = 32),
  accepted_by uuid REFERENCES accounts (id),
  CHECK (accepted_at IS NULL OR revoked_at IS NULL),
  CHECK ((email IS NULL) = (normalized_email IS NULL)),
  CHECK (email IS NOT NULL OR role = 'owner'),
  CHECK ((form_token_hash IS NULL) = (accepted_by IS NULL)),
  PRIMARY KEY (team_id, id),
  UNIQUE (id),
  FOREIGN KEY (team_id, invited_by) REFERENCES members (team_id, id)
);
-- One that has expired is revoked before another one is made.
CREATE UNIQUE INDEX invitations_one_open ON invitations (team_id, normalized_email)
  WHERE accepted_at IS NULL AND revoked_at IS NULL;

-- ── api-keys ────────────────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE api_keys (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  permissions text[] NOT NULL CHECK (cardinality(permissions) > 0),
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  -- NULL if the operator made it.
  created_by uuid,
  -- Some seconds behind.
  last_used_at timestamptz,
  PRIMARY KEY (team_id, id),
  UNIQUE (id),
  FOREIGN KEY (team_id, created_by) REFERENCES members (team_id, id)
);

-- ── usage ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The use of a month: accepted outbound messages less those refunded.
CREATE TABLE usage_months (
  team_id uuid NOT NULL REFERENCES teams (id),
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  accepted bigint NOT NULL DEFAULT 0 CHECK (accepted >= 0),
  PRIMARY KEY (team_id, month)
);

-- Messages of a day in UTC: outbound ones accepted, less those refunded, and inbound ones. A row each, so that inbound
-- messages do not wait for outbound ones.
CREATE TABLE usage_days (
  team_id uuid NOT NULL REFERENCES teams (id),
  day date NOT NULL,
  direction text NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  messages bigint NOT NULL CHECK (messages >= 0),
  PRIMARY KEY (team_id, day, direction)
) WITH (fillfactor = 50);

-- Notices to owners and admins that the month's limit is near or reached: once each.
CREATE TABLE usage_notices (
  team_id uuid NOT NULL REFERENCES teams (id),
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  percent smallint NOT NULL CHECK (percent IN (80, 100)),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, month, percent)
);

-- Rate limiter: permits that processes took of a team's latest minute. A crash may forget it: then the count begins anew.
CREATE UNLOGGED TABLE rate_windows (
  team_id uuid PRIMARY KEY,
  -- Since the epoch.
  minute bigint NOT NULL,
  taken bigint NOT NULL
);

-- ── numbers and devices ─────────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE numbers (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  phone_number text NOT NULL CHECK (phone_number ~ '^\+[1-9][0-9]{6,14}$'),
  label text NOT NULL DEFAULT '' CHECK (char_length(label) <= 100),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused')),
  -- Set by the first poll of a device; until then the number is pending, and deleted at pending_until.
  verified_at timestamptz,
  pending_until timestamptz,
  on_unconfirmed text NOT NULL DEFAULT 'fail' CHECK (on_unconfirmed IN ('fail', 'retry_once')),
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CHECK ((verified_at IS NULL) = (pending_until IS NOT NULL)),
  PRIMARY KEY (team_id, id),
  UNIQUE (id)
);
-- A phone serves one team: the first poll wins, everywhere.
CREATE UNIQUE INDEX numbers_one_verified ON numbers (phone_number) WHERE verified_at IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX numbers_one_per_team ON numbers (team_id, phone_number) WHERE deleted_at IS NULL;
CREATE INDEX numbers_deleted ON numbers (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX numbers_pending ON numbers (pending_until) WHERE verified_at IS NULL AND deleted_at IS NULL;

-- Later links of a number have the higher generation; so have the devices that were claimed with them.
CREATE SEQUENCE device_generation AS bigint;
CREATE TABLE setup_links (
  team_id uuid NOT NULL,
  id uuid NOT NULL,
  number_id uuid NOT NULL,
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  generation bigint NOT NULL DEFAULT nextval('device_generation'),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- The owner pressed Done, or a newer link replaced this one.
  ended_at timestamptz,
  PRIMARY KEY (team_id, id),
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id)
);
CREATE INDEX setup_links_number ON setup_links (number_id);

CREATE TABLE devices (
  team_id uuid NOT NULL,
  id uuid NOT NULL,
  number_id uuid NOT NULL,
  setup_link_id uuid NOT NULL,
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  generation bigint NOT NULL,
  name text NOT NULL DEFAULT '',
  system_version text NOT NULL DEFAULT '',
  shortcut_version text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL,
  -- The token still counts for late reports, but polls are answered with stop.
  ended_at timestamptz,
  PRIMARY KEY (team_id, id),
  UNIQUE (team_id, setup_link_id),
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id),
  FOREIGN KEY (team_id, setup_link_id) REFERENCES setup_links (team_id, id)
);
CREATE INDEX devices_number ON devices (number_id);

-- The one session of a number that may be handed messages. Its row lock orders polls, hand-outs and takeovers.
CREATE TABLE device_sessions (
  number_id uuid PRIMARY KEY,
  team_id uuid NOT NULL,
  device_id uuid NOT NULL,
  session_id uuid NOT NULL,
  -- Counts the polls of the session; only the newest is handed a message.
  poll_sequence bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  -- Counts the messages that were requeued: a hand-out that waited for one must look again.
  requeue_count bigint NOT NULL DEFAULT 0,
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id),
  FOREIGN KEY (team_id, device_id) REFERENCES devices (team_id, id)
);

-- ── messages: history ───────────────────────────────────────────────────────────────────────────────────────────────

-- Histories are partitioned by the month in the UUIDv7. No foreign key points at one, so that a month can be dropped.
CREATE TABLE messages (
  team_id uuid NOT NULL,
  id uuid NOT NULL,
  number_id uuid NOT NULL,
  direction text NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  from_handle text NOT NULL,
  to_handle text NOT NULL,
  content text NOT NULL,
  media_url text,
  status text NOT NULL CHECK (status IN ('queued', 'polling', 'sent', 'delivered', 'failed', 'received')),
  created_at timestamptz NOT NULL,
  sent_at timestamptz,
  delivered_at timestamptz,
  failed_at timestamptz,
  error_code text CHECK (error_code IN ('expired', 'cancelled', 'number_removed', 'media_unavailable',
    'media_too_large', 'device_timeout', 'device_error', 'not_delivered')),
  -- The device's own words, if it gave any.
  device_error text,
  may_have_been_sent boolean NOT NULL DEFAULT false,
  -- How often it was handed to a device.
  hand_out_count smallint NOT NULL DEFAULT 0 CHECK (hand_out_count BETWEEN 0 AND 2),
  -- The sequence number of its latest event; 0 before the first.
  last_event_sequence smallint NOT NULL DEFAULT 0,
  PRIMARY KEY (team_id, id),
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id),
  CONSTRAINT received_is_inbound CHECK ((direction = 'inbound') = (status = 'received')),
  CONSTRAINT failed_has_reason CHECK ((status = 'failed') = (failed_at IS NOT NULL)
    AND (failed_at IS NULL) = (error_code IS NULL)),
  CONSTRAINT delivered_has_time CHECK ((status = 'delivered') = (delivered_at IS NOT NULL)),
  CONSTRAINT sent_has_time CHECK (CASE status
    WHEN 'sent' THEN sent_at IS NOT NULL
    WHEN 'delivered' THEN sent_at IS NOT NULL
    WHEN 'failed' THEN (error_code = 'not_delivered') = (sent_at IS NOT NULL)
    ELSE sent_at IS NULL END),
  CONSTRAINT never_handed_out_was_not_sent CHECK (hand_out_count > 0 OR (sent_at IS NULL AND NOT may_have_been_sent)),
  CONSTRAINT timeout_may_have_been_sent CHECK (error_code <> 'device_timeout' OR may_have_been_sent)
) PARTITION BY RANGE (id);
CREATE INDEX messages_from ON messages (team_id, from_handle, id);
CREATE INDEX messages_to ON messages (team_id, to_handle, id);
CREATE INDEX messages_failed ON messages (team_id, id) WHERE failed_at IS NOT NULL;

-- The table of server/messages/message-status.ts, so that no code path can take a step that it does not list.
-- A test holds the two against each other.
CREATE FUNCTION guard_message_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT (
    (OLD.status = 'queued' AND NEW.status IN ('polling', 'failed'))
    OR (OLD.status = 'queued' AND NEW.status = 'sent' AND OLD.hand_out_count > 0)
    OR (OLD.status = 'polling' AND NEW.status IN ('queued', 'sent', 'failed'))
    OR (OLD.status = 'sent' AND NEW.status IN ('delivered', 'failed'))
    OR (OLD.status = 'failed' AND NEW.status = 'sent' AND OLD.error_code = 'device_timeout')
  ) THEN
    RAISE EXCEPTION 'a message may not go from % to %', OLD.status, NEW.status USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER messages_transition BEFORE UPDATE OF status ON messages
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION guard_message_transition();

-- Each time a message was handed to a device; reports are matched with them.
CREATE TABLE hand_outs (
  message_id uuid NOT NULL,
  hand_out smallint NOT NULL CHECK (hand_out BETWEEN 1 AND 2),
  team_id uuid NOT NULL,
  number_id uuid NOT NULL,
  device_id uuid NOT NULL,
  session_id uuid NOT NULL,
  handed_out_at timestamptz NOT NULL,
  outcome text CHECK (outcome IN ('sent', 'failed', 'unconfirmed')),
  resolved_at timestamptz,
  CHECK ((outcome IS NULL) = (resolved_at IS NULL)),
  PRIMARY KEY (message_id, hand_out),
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id)
) PARTITION BY RANGE (message_id);

-- ── messages: queue ─────────────────────────────────────────────────────────────────────────────────────────────────

-- Messages that wait for a phone. The send statement holds its number under a share lock, and its message carries the
-- foreign key: a second one here cost a tenth of the send path. First in, first out by seq, which is the order of acceptance (ids are not).
CREATE SEQUENCE send_queue_seq AS bigint CACHE 1;
CREATE TABLE send_queue (
  team_id uuid NOT NULL,
  message_id uuid NOT NULL,
  number_id uuid NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('send_queue_seq'),
  to_handle text NOT NULL,
  -- For its age only: order is by seq, since the clocks of two processes differ by a little.
  queued_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, message_id)
);
CREATE UNIQUE INDEX send_queue_order ON send_queue (number_id, seq);

-- At most one message of a number is in flight: the primary key refuses a second.
CREATE TABLE in_flight (
  number_id uuid PRIMARY KEY,
  team_id uuid NOT NULL,
  message_id uuid NOT NULL UNIQUE,
  hand_out smallint NOT NULL,
  device_id uuid NOT NULL,
  session_id uuid NOT NULL,
  poll_sequence bigint NOT NULL,
  -- Its position in the queue, to which a release returns it.
  seq bigint NOT NULL,
  handed_out_at timestamptz NOT NULL,
  -- Past this it counts as unconfirmed; a takeover brings it forward.
  leased_until timestamptz NOT NULL,
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id)
);
CREATE INDEX in_flight_lease ON in_flight (leased_until);

CREATE TABLE idempotency_keys (
  team_id uuid NOT NULL REFERENCES teams (id),
  key text NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 255),
  message_id uuid NOT NULL,
  fingerprint bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, key)
);

-- Repeats of an inbound message: by the device's own id for ever, by sender and text for a short while. Both are kept as
-- their SHA-256: a device may give them any length.
CREATE TABLE inbound_ids (
  number_id uuid NOT NULL,
  given_id_hash bytea NOT NULL CHECK (octet_length(given_id_hash) = 32),
  message_id uuid NOT NULL,
  PRIMARY KEY (number_id, given_id_hash)
);
CREATE TABLE inbound_fingerprints (
  number_id uuid NOT NULL,
  fingerprint bytea NOT NULL,
  message_id uuid NOT NULL,
  stored_at timestamptz NOT NULL,
  PRIMARY KEY (number_id, fingerprint)
);

-- ── events: outbox and feed ─────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE events (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  type text NOT NULL CHECK (type IN ('message.received', 'message.sent', 'message.delivered', 'message.failed')),
  message_id uuid NOT NULL,
  number_id uuid NOT NULL,
  -- 1, 2, 3 … per message.
  sequence smallint NOT NULL CHECK (sequence > 0),
  -- The envelope, serialised once: every attempt sends these bytes.
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, id)
) PARTITION BY RANGE (id);

-- Events without a position in the feed, in the order in which they were written. The publisher takes them.
CREATE SEQUENCE unpublished_events_seq AS bigint CACHE 1;
CREATE TABLE unpublished_events (
  seq bigint PRIMARY KEY DEFAULT nextval('unpublished_events_seq'),
  team_id uuid NOT NULL,
  event_id uuid NOT NULL
);

-- The feed: one publisher at a time gives positions, in the order of its commits, so that no row appears behind a reader.
CREATE SEQUENCE event_feed_position AS bigint CACHE 1;
CREATE TABLE event_feed (
  team_id uuid NOT NULL,
  position bigint NOT NULL DEFAULT nextval('event_feed_position'),
  event_id uuid NOT NULL,
  PRIMARY KEY (team_id, position)
);
CREATE UNIQUE INDEX event_feed_of_event ON event_feed (team_id, event_id);

-- Fan-out: events for so many webhooks that their deliveries are written after the commit, part by part (decision 0023). The webhooks
-- that matched are recorded with the event, in the order of their deliveries.
CREATE TABLE fan_outs (
  team_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  created_at timestamptz NOT NULL,
  webhook_ids uuid[] NOT NULL,
  are_active boolean[] NOT NULL,
  -- The number of webhooks that are done.
  done integer NOT NULL DEFAULT 0 CHECK (done >= 0 AND done < cardinality(webhook_ids)),
  CHECK (cardinality(are_active) = cardinality(webhook_ids)),
  PRIMARY KEY (team_id, event_id)
);
-- Ids do not compress.
ALTER TABLE fan_outs ALTER webhook_ids SET STORAGE EXTERNAL;

-- ── webhooks ────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Webhooks, their deliveries and attempts (decision 0017).
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
  -- Raised by each enabling and each new url: results of attempts of an earlier generation are not counted.
  generation integer NOT NULL DEFAULT 1,
  disabled_at timestamptz,
  disabled_by text CHECK (disabled_by IN ('member', 'failures')),
  -- Encrypted with SECRETS_KEY. While a rotation runs there are two; the next one takes over at the latest then.
  secret bytea NOT NULL,
  next_secret bytea,
  next_secret_from timestamptz,
  last_triggered_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, id),
  -- The queue finds a webhook by its id alone.
  UNIQUE (id),
  CONSTRAINT rotation_has_its_end CHECK ((next_secret IS NULL) = (next_secret_from IS NULL)),
  CONSTRAINT disabled_has_reason CHECK (is_active = (disabled_at IS NULL) AND is_active = (disabled_by IS NULL)),
  CONSTRAINT tenth_failure_disables CHECK (failure_count < 10 OR NOT is_active)
);

-- One event to one webhook, from the moment that the event was written; a test has no event.
CREATE TABLE deliveries (
  team_id uuid NOT NULL REFERENCES teams (id),
  -- Its event's, with a count instead of the last 32 bits: deliveries sort as their events do. A test has one of its own.
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
  -- Once a receiver has taken it, it stays taken, whatever the outcome of later attempts; the log of attempts is purged earlier.
  succeeded_at timestamptz,
  PRIMARY KEY (team_id, id),
  CONSTRAINT succeeded_has_time CHECK (status <> 'succeeded' OR succeeded_at IS NOT NULL),
  CONSTRAINT pending_is_open CHECK ((status = 'pending') = (finished_at IS NULL))
) PARTITION BY RANGE (id);
CREATE INDEX deliveries_of_webhook ON deliveries (team_id, webhook_id, id);

-- One HTTP attempt of a delivery.
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
  -- The address that it was sent to: a webhook's url may have changed since.
  url text NOT NULL,
  -- At most 16 KB of the response, as it came.
  response_body bytea,
  response_truncated boolean NOT NULL DEFAULT false,
  -- Whether it counted for failure_count: a redelivery, a test and an attempt of an earlier generation do not.
  is_counted boolean NOT NULL,
  PRIMARY KEY (team_id, delivery_id, id),
  CONSTRAINT response_is_capped CHECK (octet_length(response_body) <= 16384)
) PARTITION BY RANGE (id);
-- By age: the log is kept for a while only.
CREATE INDEX attempts_by_age ON attempts USING brin (id);

-- Deliveries that wait for an attempt, apart from their history (decision 0004). A row is deleted after its last attempt. Each
-- is updated once, by its claim: the room on its page keeps that update out of every index.
CREATE SEQUENCE due_deliveries_seq AS bigint CACHE 1;
CREATE TABLE due_deliveries (
  webhook_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  team_id uuid NOT NULL,
  event_id uuid NOT NULL,
  -- live: first attempts; retry: later ones; replay: behind both; manual: one attempt on request, which is not counted and
  -- is made while the webhook is disabled, too.
  lane text NOT NULL DEFAULT 'live' CHECK (lane IN ('live', 'retry', 'replay', 'manual')),
  -- The next attempt of this round, 1 to 4.
  attempt smallint NOT NULL DEFAULT 1 CHECK (attempt BETWEEN 1 AND 4),
  due_at timestamptz NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('due_deliveries_seq'),
  -- The offsets of later attempts count from here.
  first_started_at timestamptz,
  -- The lease of a process; past it the process counts as dead and the attempt is made again. The token is of one claim: a
  -- result that comes with another one changes nothing.
  leased_until timestamptz,
  lease bigint,
  -- The sample of a test, which is no event.
  body text,
  PRIMARY KEY (webhook_id, delivery_id),
  CONSTRAINT leased_by_somebody CHECK ((leased_until IS NULL) = (lease IS NULL))
) WITH (fillfactor = 50);
CREATE SEQUENCE lease_seq AS bigint;
-- One index for each lane, which claims read in their order. With one for all lanes, a plan made while the queue was empty
-- looked for single deliveries in it, through all that wait for the webhook.
CREATE INDEX due_deliveries_live ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'live';
CREATE INDEX due_deliveries_retry ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'retry';
CREATE INDEX due_deliveries_replay ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'replay';
CREATE INDEX due_deliveries_manual ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'manual';

-- ── mail ────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Mail (specification section 10.6): a row is written in the transaction of its cause, and sent after the commit.
CREATE TABLE mails (
  id uuid PRIMARY KEY,
  recipient text NOT NULL CHECK (char_length(recipient) BETWEEN 3 AND 254),
  -- Subject, text and HTML, encrypted: they carry links that sign people in. Erased once the mail is sent or given up.
  body bytea,
  created_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  next_attempt_at timestamptz NOT NULL,
  -- The lease of a process; past it the process counts as dead, and another one takes the mail.
  leased_until timestamptz,
  sent_at timestamptz,
  failed_at timestamptz,
  -- Codes and never a server's words, which may quote addresses and links.
  last_error text,
  -- The end of the link in it: not sent any more after that.
  expires_at timestamptz,
  -- The public id of its subject, such as an invitation: cancelled together with that.
  reference text,
  CONSTRAINT mail_ends_once CHECK (sent_at IS NULL OR failed_at IS NULL),
  CONSTRAINT body_while_open CHECK ((body IS NULL) = (sent_at IS NOT NULL OR failed_at IS NOT NULL)),
  CONSTRAINT leased_while_open CHECK (leased_until IS NULL OR body IS NOT NULL)
);
CREATE INDEX mails_open ON mails (next_attempt_at) WHERE body IS NOT NULL;
CREATE INDEX mails_open_reference ON mails (reference) WHERE body IS NOT NULL AND reference IS NOT NULL;

-- ── audit ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Actions and refusals: by whom, when and from where. Rows are never changed or deleted, except for a month as a whole.
CREATE TABLE audit_log (
  id uuid NOT NULL,
  -- NULL for an action on an account and no team.
  team_id uuid,
  -- The account that it concerns or that acted, if there is one.
  account_id uuid,
  actor_kind text NOT NULL CHECK (actor_kind IN ('key', 'member', 'account', 'operator', 'server')),
  actor_id text NOT NULL,
  actor_name text NOT NULL,
  action text NOT NULL,
  -- The public id of its object; '' for the team itself.
  target text NOT NULL,
  details jsonb NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('done', 'refused')),
  error_code text,
  ip text NOT NULL,
  request_id text NOT NULL,
  created_at timestamptz NOT NULL,
  CHECK ((outcome = 'refused') = (error_code IS NOT NULL)),
  CHECK (team_id IS NOT NULL OR account_id IS NOT NULL)
) PARTITION BY RANGE (id);
CREATE UNIQUE INDEX audit_log_team ON audit_log (team_id, id);
CREATE INDEX audit_log_account ON audit_log (account_id, id);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END
$$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_not_emptied BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- ── clock ───────────────────────────────────────────────────────────────────────────────────────────────────────────

-- The service's time and the database's clock (decision 0020). All processes take the same time from these rows.
CREATE TABLE service_clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- The service's time less the database's clock: a step of that clock which is not followed yet. 0 while it is trusted.
  held_ms bigint NOT NULL DEFAULT 0,
  -- When the clock last stepped, in the service's time; NULL while it is trusted.
  stepped_at timestamptz,
  -- The sum of all steps that were followed: how far the service's time has jumped.
  followed_ms bigint NOT NULL DEFAULT 0,
  -- Counts the changes of this row: a process that decided by an older one decides again.
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT stepped_while_held CHECK ((held_ms = 0) = (stepped_at IS NULL))
);
INSERT INTO service_clock DEFAULT VALUES;

-- The service's time beside a clock that is never set: the one that counts from a machine's boot. A process that starts during
-- the same boot knows by it how much time has passed.
CREATE TABLE clock_readings (
  boot_id uuid PRIMARY KEY,
  -- Since the boot, with and without the time that the machine slept.
  uptime_ms bigint NOT NULL,
  monotonic_ms bigint NOT NULL,
  service_at timestamptz NOT NULL,
  -- service_clock.followed_ms at that moment.
  followed_ms bigint NOT NULL
);

-- ── partitions ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- Rows without a month's partition go to the default one: nothing that was accepted is lost because a partition was missing.
CREATE TABLE messages_default PARTITION OF messages DEFAULT;
CREATE TABLE hand_outs_default PARTITION OF hand_outs DEFAULT;
CREATE TABLE events_default PARTITION OF events DEFAULT;
CREATE TABLE deliveries_default PARTITION OF deliveries DEFAULT WITH (fillfactor = 50);
CREATE TABLE attempts_default PARTITION OF attempts DEFAULT;
CREATE TABLE audit_log_default PARTITION OF audit_log DEFAULT;

-- The smallest UUIDv7 of a moment.
CREATE FUNCTION first_id_at(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- PostgreSQL passes row triggers on to partitions, but not those of TRUNCATE: each partition gets those that its history has.
CREATE FUNCTION guard_partitions(history text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  missing record;
BEGIN
  FOR missing IN
    SELECT t.tgname, t.tgfoid::regproc AS guard, i.inhrelid::regclass AS partition
    FROM pg_trigger t JOIN pg_inherits i ON i.inhparent = t.tgrelid
    WHERE t.tgrelid = history::regclass AND NOT t.tgisinternal AND t.tgtype & 32 <> 0
      AND NOT EXISTS (SELECT FROM pg_trigger own WHERE own.tgrelid = i.inhrelid AND own.tgname = t.tgname)
  LOOP
    EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s()',
      missing.tgname, missing.partition, missing.guard);
  END LOOP;
END
$$;
SELECT guard_partitions('audit_log');

-- Makes one month of a history. Rows of that month in the default partition move into it, since PostgreSQL refuses a month
-- that its default partition has rows of. More than moved_max rows are left there, because readers and writers of that
-- history wait for the move. A month that exists is left alone.
CREATE FUNCTION make_partition(history text, month date, moved_max bigint) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
  partition text := history || to_char(month, '_YYYY_MM');
  default_partition text := history || '_default';
  first_id uuid := first_id_at(month::timestamp AT TIME ZONE 'UTC');
  next_id uuid := first_id_at((month + interval '1 month')::timestamp AT TIME ZONE 'UTC');
  of_month text := format('%1$I >= %2$L AND %1$I < %3$L',
    CASE history WHEN 'hand_outs' THEN 'message_id' ELSE 'id' END, first_id, next_id);
  found bigint;
BEGIN
  IF to_regclass(partition) IS NOT NULL THEN
    RETURN;
  END IF;
  -- In the order of every writer: the tables that the history refers to, then the history itself. One maker at a time has the
  -- first locks. Writers wait at the history, before the partition of their row is chosen: at the partition it would be too late.
  LOCK TABLE teams, numbers IN SHARE ROW EXCLUSIVE MODE;
  IF to_regclass(partition) IS NOT NULL THEN
    RETURN;
  END IF;
  EXECUTE format('SELECT count(*) FROM (SELECT FROM %I WHERE %s LIMIT %s) AS few', default_partition, of_month, moved_max + 1)
    INTO found;
  IF found > moved_max THEN
    RAISE EXCEPTION '% holds more than % rows of the month %. At a quiet time, this moves them all: SELECT make_partition(%, %, 1000000000)',
      default_partition, moved_max, month, quote_literal(history), quote_literal(month);
  END IF;
  EXECUTE format('LOCK TABLE ONLY %I, %I IN ACCESS EXCLUSIVE MODE', history, default_partition);
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition, history);
  -- A delivery is updated once, by its end: with room on its page, that update needs no new entry in any index (decision 0017).
  IF history = 'deliveries' THEN
    EXECUTE format('ALTER TABLE %I SET (fillfactor = 50)', partition);
  END IF;
  -- Triggers guard rows against being changed, not against being moved.
  EXECUTE format('ALTER TABLE %I DISABLE TRIGGER USER', default_partition);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %s RETURNING *) INSERT INTO %I SELECT * FROM moved',
    default_partition, of_month, partition);
  EXECUTE format('ALTER TABLE %I ENABLE TRIGGER USER', default_partition);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', history, partition, first_id, next_id);
  PERFORM guard_partitions(history);
END
$$;

-- Drops a month of a history, which ends its rows without a DELETE. Nothing refers to a history. The parent is locked too: the
-- time-out is short, because readers and writers of that history wait behind this lock.
CREATE FUNCTION drop_partition(history text, month date) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '300ms' AS $$
BEGIN
  EXECUTE format('DROP TABLE IF EXISTS %I', history || to_char(month, '_YYYY_MM'));
END
$$;
