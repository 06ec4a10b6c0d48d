-- Teams, keys, numbers, devices, messages and their events (docs/architecture.md lists the invariants).
-- Times come from the application's clock: nothing here calls now() (decision 0007).

CREATE TABLE instance (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  secrets_key_fingerprint bytea NOT NULL
);

CREATE TABLE teams (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  plan text NOT NULL CHECK (plan IN ('free', 'starter', 'pro', 'enterprise')),
  monthly_message_limit bigint NOT NULL CHECK (monthly_message_limit >= 0),
  created_at timestamptz NOT NULL
);

CREATE TABLE api_keys (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  permissions text[] NOT NULL CHECK (cardinality(permissions) > 0),
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')),
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  PRIMARY KEY (team_id, id),
  UNIQUE (id)
);

-- What a team has used of its month: accepted outbound messages less those given back.
CREATE TABLE usage_months (
  team_id uuid NOT NULL REFERENCES teams (id),
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  accepted bigint NOT NULL DEFAULT 0 CHECK (accepted >= 0),
  PRIMARY KEY (team_id, month)
);

-- Requests of a team in its latest minute. A crash may forget it: then a minute's count begins anew.
CREATE UNLOGGED TABLE rate_windows (
  team_id uuid PRIMARY KEY,
  -- Since the epoch.
  minute bigint NOT NULL,
  taken bigint NOT NULL
);

CREATE TABLE numbers (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  phone_number text NOT NULL CHECK (phone_number ~ '^\+[1-9][0-9]{6,14}$'),
  label text NOT NULL DEFAULT '' CHECK (char_length(label) <= 100),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused')),
  -- Set by the first poll of a device; until then the number is pending and vanishes at pending_until.
  verified_at timestamptz,
  pending_until timestamptz,
  ownership text NOT NULL DEFAULT 'unproven' CHECK (ownership IN ('unproven', 'proven')),
  on_unconfirmed text NOT NULL DEFAULT 'fail' CHECK (on_unconfirmed IN ('fail', 'retry_once')),
  mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')),
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CHECK ((verified_at IS NULL) = (pending_until IS NOT NULL)),
  PRIMARY KEY (team_id, id),
  UNIQUE (id)
);

-- A phone answers to one team: the first poll wins, everywhere.
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
  kind text NOT NULL DEFAULT 'shortcut' CHECK (kind IN ('shortcut', 'mac')),
  name text NOT NULL DEFAULT '',
  system_version text NOT NULL DEFAULT '',
  shortcut_version text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL,
  -- The token still counts for late reports, but polls are told to stop.
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
  -- Counts the polls of the session; only the newest is handed anything.
  poll bigint NOT NULL,
  live_until timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  -- How often a message went back into the queue: a hand-out that had to wait for that must look again.
  returned bigint NOT NULL DEFAULT 0,
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id),
  FOREIGN KEY (team_id, device_id) REFERENCES devices (team_id, id)
);

-- History: partitioned by the month in the UUIDv7. Nothing may reference it, so that a month can be dropped.
CREATE TABLE messages (
  team_id uuid NOT NULL,
  id uuid NOT NULL,
  number_id uuid NOT NULL,
  direction text NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  from_handle text NOT NULL,
  to_handle text NOT NULL,
  content text NOT NULL,
  media_url text,
  mode text NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test')),
  status text NOT NULL CHECK (status IN ('queued', 'polling', 'sent', 'delivered', 'failed', 'received')),
  created_at timestamptz NOT NULL,
  sent_at timestamptz,
  delivered_at timestamptz,
  failed_at timestamptz,
  error_code text CHECK (error_code IN ('expired', 'cancelled', 'number_removed', 'media_unavailable',
    'media_too_large', 'device_timeout', 'device_error', 'not_delivered')),
  -- The device's own words, where it gave any.
  device_error text,
  may_have_been_sent boolean NOT NULL DEFAULT false,
  -- How often it was handed to a device, and how many events it has made so far.
  hand_outs smallint NOT NULL DEFAULT 0 CHECK (hand_outs BETWEEN 0 AND 2),
  events smallint NOT NULL DEFAULT 0,
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
  CONSTRAINT never_handed_out_was_not_sent CHECK (hand_outs > 0 OR (sent_at IS NULL AND NOT may_have_been_sent)),
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
    OR (OLD.status = 'queued' AND NEW.status = 'sent' AND OLD.hand_outs > 0)
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

-- Each time a message was given to a device; reports are matched with them.
CREATE TABLE hand_outs (
  message_id uuid NOT NULL,
  hand_out smallint NOT NULL CHECK (hand_out BETWEEN 1 AND 2),
  team_id uuid NOT NULL,
  number_id uuid NOT NULL,
  device_id uuid NOT NULL,
  session_id uuid NOT NULL,
  handed_out_at timestamptz NOT NULL,
  outcome text CHECK (outcome IN ('sent', 'failed', 'unconfirmed')),
  settled_at timestamptz,
  CHECK ((outcome IS NULL) = (settled_at IS NULL)),
  PRIMARY KEY (message_id, hand_out),
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id)
) PARTITION BY RANGE (message_id);

CREATE TABLE events (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  type text NOT NULL CHECK (type IN ('message.received', 'message.sent', 'message.delivered', 'message.failed')),
  message_id uuid NOT NULL,
  number_id uuid NOT NULL,
  -- 1, 2, 3 … per message.
  sequence smallint NOT NULL CHECK (sequence > 0),
  -- The envelope, serialised once: these bytes are what every attempt sends.
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, id)
) PARTITION BY RANGE (id);

-- Rows that find no month go here: nothing that was accepted is lost because a partition was missing.
CREATE TABLE messages_unplaced PARTITION OF messages DEFAULT;
CREATE TABLE hand_outs_unplaced PARTITION OF hand_outs DEFAULT;
CREATE TABLE events_unplaced PARTITION OF events DEFAULT;

-- The smallest UUIDv7 of a moment.
CREATE FUNCTION first_id_at(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes one month of a history: messages, hand_outs, events and the like. What the unplaced partition holds of that month moves into it, since
-- PostgreSQL refuses a month that its default partition has rows of; more than so many are left where they are, because
-- whoever reads or writes that history waits for the move. A month that stands is left alone.
CREATE FUNCTION make_partition(history text, month date, moved_max bigint) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
  partition text := history || to_char(month, '_YYYY_MM');
  unplaced text := history || '_unplaced';
  first_id uuid := first_id_at(month::timestamp AT TIME ZONE 'UTC');
  next_id uuid := first_id_at((month + interval '1 month')::timestamp AT TIME ZONE 'UTC');
  of_month text := format('%1$I >= %2$L AND %1$I < %3$L',
    CASE history WHEN 'hand_outs' THEN 'message_id' ELSE 'id' END, first_id, next_id);
  found bigint;
BEGIN
  IF to_regclass(partition) IS NOT NULL THEN
    RETURN;
  END IF;
  -- In the order of every writer: what the history refers to, then the history itself. One maker at a time has the first
  -- locks. Whoever writes waits at the history, before the row's place is chosen: at the partition it would be too late.
  LOCK TABLE teams, numbers IN SHARE ROW EXCLUSIVE MODE;
  IF to_regclass(partition) IS NOT NULL THEN
    RETURN;
  END IF;
  EXECUTE format('SELECT count(*) FROM (SELECT FROM %I WHERE %s LIMIT %s) AS few', unplaced, of_month, moved_max + 1)
    INTO found;
  IF found > moved_max THEN
    RAISE EXCEPTION '% holds more than % rows of the month %. At a quiet time, this moves them all: SELECT make_partition(%, %, 1000000000)',
      unplaced, moved_max, month, quote_literal(history), quote_literal(month);
  END IF;
  EXECUTE format('LOCK TABLE ONLY %I, %I IN ACCESS EXCLUSIVE MODE', history, unplaced);
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition, history);
  -- Triggers guard rows against being changed, not against being moved.
  EXECUTE format('ALTER TABLE %I DISABLE TRIGGER USER', unplaced);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %s RETURNING *) INSERT INTO %I SELECT * FROM moved',
    unplaced, of_month, partition);
  EXECUTE format('ALTER TABLE %I ENABLE TRIGGER USER', unplaced);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', history, partition, first_id, next_id);
END
$$;

-- What waits for a phone. The send statement holds its number under a share lock, and its message carries the
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

-- At most one message is in a phone's hands: the primary key refuses a second.
CREATE TABLE in_flight (
  number_id uuid PRIMARY KEY,
  team_id uuid NOT NULL,
  message_id uuid NOT NULL UNIQUE,
  hand_out smallint NOT NULL,
  device_id uuid NOT NULL,
  session_id uuid NOT NULL,
  poll bigint NOT NULL,
  -- The place in the queue that it goes back to where it is given back.
  seq bigint NOT NULL,
  handed_out_at timestamptz NOT NULL,
  -- Past this it counts as unconfirmed; a takeover brings it forward.
  lease_until timestamptz NOT NULL,
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id)
);
CREATE INDEX in_flight_lease ON in_flight (lease_until);

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
CREATE TABLE inbound_recent (
  number_id uuid NOT NULL,
  fingerprint bytea NOT NULL,
  message_id uuid NOT NULL,
  stored_at timestamptz NOT NULL,
  PRIMARY KEY (number_id, fingerprint)
);
