-- Messages: a history, which no queue locks (decision 0004). UUIDv7 ids sort by time.
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
  error_code text CHECK (error_code IN ('expired', 'cancelled', 'number_removed', 'opted_out',
    'media_unavailable', 'media_too_large', 'device_timeout', 'device_error', 'not_delivered')),
  -- The device's own words, if it gave any.
  device_error text,
  may_have_been_sent boolean NOT NULL DEFAULT false,
  -- How often it was handed to a device.
  hand_out_count smallint NOT NULL DEFAULT 0 CHECK (hand_out_count BETWEEN 0 AND 2),
  -- The sequence number of its latest event; 0 before the first.
  last_event_sequence smallint NOT NULL DEFAULT 0,
  -- Whether a received message went to several recipients (specification section 2.6).
  is_group boolean NOT NULL DEFAULT false,
  -- Whether a received message may be a late repeat of an equal one (specification section 11.5).
  possible_repeat boolean NOT NULL DEFAULT false CHECK (direction = 'inbound' OR NOT possible_repeat),
  -- Why the media of a failed message could not be fetched: timeout, http_404 and the like.
  media_failure text CHECK (media_failure IS NULL OR error_code LIKE 'media_%'),
  -- The key or member that sent it; NULL for inbound ones and test texts of the setup page. No foreign key: it is one of two
  -- tables, and neither deletes rows.
  sent_by uuid,
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
);
COMMENT ON TABLE messages IS
  'team; erased by handle; kept for RETENTION_DAYS; a person; in backups. A message to or from a contact.';
CREATE INDEX messages_from ON messages (team_id, from_handle, id);
CREATE INDEX messages_to ON messages (team_id, to_handle, id);
-- The last of the indexes of all rows: a plan of an empty table takes the newest of indexes that cost the same, and is kept
-- until the first ANALYZE. Checks of foreign keys are planned that way too. The indexes of some rows come after it.
ALTER TABLE messages ADD PRIMARY KEY (team_id, id);
CREATE INDEX messages_failed ON messages (team_id, id) WHERE failed_at IS NOT NULL;
-- LIKE, so that only the page of inbound messages takes it. Statements with direction = 'inbound' and a handle would read all
-- inbound messages of a team along it.
CREATE INDEX messages_inbound ON messages (team_id, id) WHERE direction LIKE 'inbound';

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
  device_id uuid NOT NULL,
  session_id uuid NOT NULL,
  handed_out_at timestamptz NOT NULL,
  outcome text CHECK (outcome IN ('sent', 'failed', 'unconfirmed')),
  resolved_at timestamptz,
  CHECK ((outcome IS NULL) = (resolved_at IS NULL)),
  PRIMARY KEY (message_id, hand_out),
  FOREIGN KEY (team_id, message_id) REFERENCES messages (team_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE hand_outs IS
  'team; not erased; kept for RETENTION_DAYS; no person; in backups. Each time a message was handed to a phone.';

-- Messages that wait for a phone. The send statement holds its number under a share lock, and its message carries the
-- foreign key: a second one here cost a tenth of the send path. First in, first out by seq, which is the order of acceptance (ids are not).
CREATE SEQUENCE send_queue_seq AS bigint CACHE 1;
CREATE TABLE send_queue (
  team_id uuid NOT NULL,
  message_id uuid NOT NULL,
  number_id uuid NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('send_queue_seq'),
  to_handle text NOT NULL,
  -- When it was accepted; of a message for later, when it became ready. For its age only: order is by seq, since the clocks of two processes differ by a little.
  queued_at timestamptz NOT NULL,
  -- A message whose media are not stored yet is not handed out, nor are later ones of its conversation.
  waits_for_media boolean NOT NULL DEFAULT false,
  -- Hand-outs pass over a held message until a person or a job releases it.
  hold text CHECK (hold IN ('approval', 'outage', 'restore')),
  -- A message for later: when it becomes ready; NULL from then on.
  ready_at timestamptz,
  -- A state of the row, not a comparison with a clock: hand-outs read only ready rows along their indexes.
  is_ready boolean NOT NULL GENERATED ALWAYS AS (hold IS NULL AND ready_at IS NULL) STORED,
  PRIMARY KEY (team_id, message_id)
);
COMMENT ON TABLE send_queue IS
  'team; erased by handle; kept while needed; a person; in backups. Messages that wait for a phone.';
CREATE UNIQUE INDEX send_queue_order ON send_queue (number_id, is_ready, seq);
-- The heads of a queue: the oldest ready message to each contact (specification section 3.3).
CREATE INDEX send_queue_heads ON send_queue (number_id, to_handle, is_ready, seq);
-- Releases read these; they have no entry of a ready row.
CREATE INDEX send_queue_holds ON send_queue (hold, team_id, number_id, seq) WHERE hold IS NOT NULL;
CREATE INDEX send_queue_later ON send_queue (ready_at) WHERE hold IS NULL AND ready_at IS NOT NULL;
-- ANALYZE keeps the statistics of a table without rows, and these are often empty. So their handles get none (specification
-- section 12.14): here, and in recent_hand_outs and erasures.
ALTER TABLE send_queue ALTER to_handle SET STATISTICS 0;

-- At most one message of a number is in flight: the primary key refuses a second.
-- device-protocol brings the lease forward in the transaction of a takeover.
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
COMMENT ON TABLE in_flight IS
  'team; not erased; kept while needed; no person; in backups; also written by device-protocol. Messages that a phone has and has not confirmed.';
CREATE INDEX in_flight_lease ON in_flight (leased_until);

CREATE TABLE idempotency_keys (
  team_id uuid NOT NULL REFERENCES teams (id),
  key text NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 255),
  message_id uuid NOT NULL,
  fingerprint bytea NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, key)
);
COMMENT ON TABLE idempotency_keys IS
  'team; erased by handle; kept while needed; a person; in backups. Idempotency keys of sends, for a day.';

-- Repeats of an inbound message: by the device's own id for ever, by sender and text for a short while. Both are kept as
-- their SHA-256: a device may give them any length.
CREATE TABLE inbound_ids (
  team_id uuid NOT NULL,
  number_id uuid NOT NULL,
  given_id_hash bytea NOT NULL CHECK (octet_length(given_id_hash) = 32),
  message_id uuid NOT NULL,
  PRIMARY KEY (number_id, given_id_hash)
);
COMMENT ON TABLE inbound_ids IS
  'team; not erased; kept for RETENTION_DAYS; no person; in backups. Ids that phones gave to received messages, by their hash.';
CREATE TABLE inbound_fingerprints (
  team_id uuid NOT NULL,
  number_id uuid NOT NULL,
  fingerprint bytea NOT NULL,
  message_id uuid NOT NULL,
  -- The first and the latest call that were taken for the message.
  stored_at timestamptz NOT NULL,
  last_call_at timestamptz NOT NULL,
  -- How many of the automations that pass the text on have not called yet; 0 in the row of a run.
  calls_left smallint NOT NULL CHECK (calls_left >= 0),
  PRIMARY KEY (number_id, fingerprint)
);
COMMENT ON TABLE inbound_fingerprints IS
  'team; erased by handle; kept while needed; a person; in backups. Hashes by which a repeated inbound message is recognized.';

-- Media of outbound messages that are not fetched yet: a queue of its own (specification section 3.2).
CREATE TABLE media_fetches (
  team_id uuid NOT NULL,
  message_id uuid NOT NULL,
  url text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2048),
  -- Scheme, host and port: the slots of a team are shared out by it.
  origin text NOT NULL CHECK (char_length(origin) <= 300),
  -- Tries that were begun; a claim of a process is known by it.
  tries smallint NOT NULL DEFAULT 0 CHECK (tries >= 0),
  -- When it may be tried next. Of a try in progress the end of its lease: past it the process counts as dead.
  due_at timestamptz NOT NULL,
  -- Tries that ended in a failure. A claim whose process died is counted by `tries` alone, which identifies the claim.
  failed_tries smallint NOT NULL DEFAULT 0 CHECK (failed_tries >= 0),
  PRIMARY KEY (team_id, message_id)
);
COMMENT ON TABLE media_fetches IS
  'team; erased by handle; kept while needed; a person; in backups. Files of outbound messages that are not fetched yet.';
CREATE INDEX media_fetches_lane ON media_fetches (team_id, origin, due_at);
-- The fetches that are due longest, of all teams and origins: a claim looks at these besides those that it walks to.
CREATE INDEX media_fetches_due ON media_fetches (due_at);

-- The hand-outs of paced numbers of the last day, numbered per number: a window of any size is judged by one row, the one that is as many
-- hand-outs back as the window allows (specification section 8, decision 0026). Not a history: purged after a day.
CREATE TABLE recent_hand_outs (
  team_id uuid NOT NULL,
  number_id uuid NOT NULL,
  -- device_sessions.hand_out_total after it.
  ordinal bigint NOT NULL,
  message_id uuid NOT NULL,
  hand_out smallint NOT NULL,
  contact text NOT NULL,
  handed_out_at timestamptz NOT NULL,
  PRIMARY KEY (number_id, ordinal)
);
COMMENT ON TABLE recent_hand_outs IS
  'team; erased by handle; kept while needed; a person; in backups. Hand-outs of the last day, by which pacing is decided.';
ALTER TABLE recent_hand_outs ALTER contact SET STATISTICS 0;

-- One row for each number and contact that have written to each other.
CREATE TABLE conversations (
  team_id uuid NOT NULL,
  number_id uuid NOT NULL,
  contact text NOT NULL,
  opened_by text NOT NULL CHECK (opened_by IN ('team', 'contact')),
  -- Its first hand-out or inbound message.
  opened_at timestamptz NOT NULL,
  last_inbound_at timestamptz,
  -- Hand-outs since the contact last wrote.
  unanswered_count integer NOT NULL DEFAULT 0 CHECK (unanswered_count >= 0),
  -- The newest hand-out or inbound message.
  last_activity_at timestamptz NOT NULL,
  -- The greatest id of the messages that were handed out or received.
  last_message_id uuid NOT NULL,
  last_inbound_id uuid,
  -- Spellings of the contact in messages that differ from it.
  handles text[] NOT NULL DEFAULT '{}' CHECK (cardinality(handles) <= 16),
  PRIMARY KEY (number_id, contact),
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id),
  CONSTRAINT contact_opens_by_writing CHECK (opened_by = 'team' OR last_inbound_at IS NOT NULL)
) WITH (fillfactor = 70);
COMMENT ON TABLE conversations IS
  'team; erased by handle; kept for RETENTION_DAYS; a person; in backups. A number and a contact that have written to each other.';
CREATE INDEX conversations_opened ON conversations (number_id, opened_at) WHERE opened_by = 'team';
-- The dashboard's list: the latest activity first, across the numbers of a team. The id decides between equal times.
CREATE INDEX conversations_activity ON conversations (team_id, last_activity_at, last_message_id);

