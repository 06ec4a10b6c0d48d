-- All messages. Queues are separate tables, so they do not lock these rows (decision 0004). UUIDv7 ids sort by time.
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
  -- The error text that the device reported, if any.
  device_error text,
  may_have_been_sent boolean NOT NULL DEFAULT false,
  hand_out_count smallint NOT NULL DEFAULT 0 CHECK (hand_out_count BETWEEN 0 AND 2),
  -- The sequence number of the message's latest event; 0 before the first event.
  last_event_sequence smallint NOT NULL DEFAULT 0,
  -- Whether a received message went to several recipients (specification section 2.6).
  is_group boolean NOT NULL DEFAULT false,
  -- Whether a received message may be a late repeat of an earlier message (specification section 11.5).
  possible_repeat boolean NOT NULL DEFAULT false CHECK (direction = 'inbound' OR NOT possible_repeat),
  -- Why the media of a failed message could not be fetched: timeout, http_404 and the like.
  media_failure text CHECK (media_failure IS NULL OR error_code LIKE 'media_%'),
  -- The key or member that sent the message; NULL for inbound messages and test texts of the setup page. It has no
  -- foreign key, because the id is from one of two tables.
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
-- Created after the other indexes of all rows. For an empty table, the planner prefers the newest of indexes with equal
-- cost, and keeps that plan until the first ANALYZE. Checks of foreign keys are planned in the same way. Partial
-- indexes may follow.
ALTER TABLE messages ADD PRIMARY KEY (team_id, id);
CREATE INDEX messages_failed ON messages (team_id, id) WHERE failed_at IS NOT NULL;
-- LIKE instead of =, so that only the list of inbound messages uses this index. Statements with direction = 'inbound'
-- and a handle would read all inbound messages of a team along it.
CREATE INDEX messages_inbound ON messages (team_id, id) WHERE direction LIKE 'inbound';

-- Allows only the status changes that server/messages/message-status.ts lists, whatever code makes the change. A test
-- compares both lists.
CREATE FUNCTION guard_message_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT (
    (OLD.status = 'queued' AND NEW.status IN ('polling', 'failed'))
    OR (OLD.status = 'queued' AND NEW.status = 'sent' AND NEW.hand_out_count > 0)
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

-- Each time that a message was handed to a device. Reports of devices are matched with these rows.
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

-- Messages that wait for a phone. This table has no foreign key to numbers: it made each send a tenth slower, and the
-- table messages has one. The order is first in, first out by seq, the order of acceptance; ids do not have this order.
CREATE SEQUENCE send_queue_seq AS bigint CACHE 1;
CREATE TABLE send_queue (
  team_id uuid NOT NULL,
  message_id uuid NOT NULL,
  number_id uuid NOT NULL,
  seq bigint NOT NULL DEFAULT nextval('send_queue_seq'),
  to_handle text NOT NULL,
  -- When the message was accepted or, for a scheduled message, became ready. It only shows the age: the order is by
  -- seq, because the clocks of two processes differ a little.
  queued_at timestamptz NOT NULL,
  -- True while the media of the message are not stored yet. Neither this message nor later ones of its conversation are
  -- handed out then.
  waits_for_media boolean NOT NULL DEFAULT false,
  -- Why the message is held, if it is: hand-outs skip it until a person or a job releases it.
  hold text CHECK (hold IN ('approval', 'outage', 'restore')),
  -- When a scheduled message becomes ready; NULL from then on, and for other messages.
  ready_at timestamptz,
  -- Stored rather than compared with a clock, so that hand-outs read only ready rows along their indexes.
  is_ready boolean NOT NULL GENERATED ALWAYS AS (hold IS NULL AND ready_at IS NULL) STORED,
  PRIMARY KEY (team_id, message_id)
);
COMMENT ON TABLE send_queue IS
  'team; erased by handle; kept while needed; a person; in backups. Messages that wait for a phone.';
CREATE UNIQUE INDEX send_queue_order ON send_queue (number_id, is_ready, seq);
-- The heads of a queue: the oldest ready message to each contact (specification section 3.3).
CREATE INDEX send_queue_heads ON send_queue (number_id, to_handle, is_ready, seq);
-- Releases of held and scheduled messages read these two indexes, which have no entry of a ready row.
CREATE INDEX send_queue_holds ON send_queue (hold, team_id, number_id, seq) WHERE hold IS NOT NULL;
CREATE INDEX send_queue_later ON send_queue (ready_at) WHERE hold IS NULL AND ready_at IS NOT NULL;
-- ANALYZE of an empty table keeps its old statistics, and with them the handles of erased contacts. So the handles of
-- tables that are often empty get no statistics (specification section 12.14).
ALTER TABLE send_queue ALTER to_handle SET STATISTICS 0;

-- The message that a phone has and has not confirmed. A number has at most one, because of the primary key. The slice
-- device-protocol shortens the lease in the transaction of a takeover.
CREATE TABLE in_flight (
  number_id uuid PRIMARY KEY,
  team_id uuid NOT NULL,
  message_id uuid NOT NULL UNIQUE,
  hand_out smallint NOT NULL,
  device_id uuid NOT NULL,
  session_id uuid NOT NULL,
  poll_sequence bigint NOT NULL,
  -- The message's position in the queue, to which a release returns it.
  seq bigint NOT NULL,
  handed_out_at timestamptz NOT NULL,
  -- After this time the message counts as unconfirmed. A takeover moves this time to an earlier moment.
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

-- Two tables recognize repeats of an inbound message: by the id that the device gave, and for a short while by sender
-- and text. Both are stored as SHA-256, because a device may send values of any length.
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
  -- When the device first passed the message on, and when a call last counted as a repeat of it.
  stored_at timestamptz NOT NULL,
  last_call_at timestamptz NOT NULL,
  -- How many of the automations that pass the text on have not called yet; 0 in the row of a shortcut run.
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
  -- Scheme, host and port of the URL. The fetches that a team may run at once are divided among its origins.
  origin text NOT NULL CHECK (char_length(origin) <= 300),
  -- How many tries were begun. The number also identifies the claim of a process.
  tries smallint NOT NULL DEFAULT 0 CHECK (tries >= 0),
  -- When the next try is due. During a try it is the end of the lease, after which the process counts as dead.
  due_at timestamptz NOT NULL,
  -- How many tries ended in a failure. A try whose process died is counted in `tries` only.
  failed_tries smallint NOT NULL DEFAULT 0 CHECK (failed_tries >= 0),
  PRIMARY KEY (team_id, message_id)
);
COMMENT ON TABLE media_fetches IS
  'team; erased by handle; kept while needed; a person; in backups. Files of outbound messages that are not fetched yet.';
CREATE INDEX media_fetches_lane ON media_fetches (team_id, origin, due_at);
-- For the longest due fetches of all teams and origins. A claim reads them in addition to those of each team and
-- origin.
CREATE INDEX media_fetches_due ON media_fetches (due_at);

-- The hand-outs of paced numbers during the last day, counted per number. If a limit allows 30 hand-outs, the 30th
-- latest row shows whether one more is allowed (specification section 8, decision 0026). Rows are purged after a day.
CREATE TABLE recent_hand_outs (
  team_id uuid NOT NULL,
  number_id uuid NOT NULL,
  -- The value of device_sessions.hand_out_total after this hand-out.
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

-- The public id of a conversation: of a team's phone number and a contact, whatever number resources it had.
CREATE FUNCTION conversation_id(team_id uuid, phone_number text, contact text) RETURNS uuid LANGUAGE sql IMMUTABLE AS
$$ SELECT md5(team_id::text || ' ' || phone_number || ' ' || contact)::uuid $$;

-- One row for each number and contact that have written to each other.
CREATE TABLE conversations (
  team_id uuid NOT NULL,
  number_id uuid NOT NULL,
  contact text NOT NULL,
  id uuid NOT NULL,
  opened_by text NOT NULL CHECK (opened_by IN ('team', 'contact')),
  -- When the first message of the conversation was handed out or received.
  opened_at timestamptz NOT NULL,
  last_inbound_at timestamptz,
  -- Hand-outs since the contact last wrote.
  unanswered_count integer NOT NULL DEFAULT 0 CHECK (unanswered_count >= 0),
  -- When the latest message of the conversation was handed out or received.
  last_activity_at timestamptz NOT NULL,
  -- The greatest id of the messages that were handed out or received.
  last_message_id uuid NOT NULL,
  last_inbound_id uuid,
  -- The conversation was answered, or marked as done, up to this message.
  answered_id uuid,
  -- Stored, so that the list of waiting conversations reads only these.
  is_waiting boolean NOT NULL GENERATED ALWAYS AS
    (contact <> '' AND last_inbound_id IS NOT NULL AND (answered_id IS NULL OR answered_id < last_inbound_id)) STORED,
  -- Spellings of the contact in messages, if they differ from `contact`.
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
CREATE INDEX conversations_id ON conversations (team_id, id);
CREATE INDEX conversations_waiting ON conversations (team_id, last_activity_at, last_message_id) WHERE is_waiting;

-- The last answer in each conversation, by a person of the team or a key that answers for it. A reply claims the
-- conversation here before its message is stored.
CREATE TABLE conversation_answers (
  team_id uuid NOT NULL REFERENCES teams (id),
  phone_number text NOT NULL,
  contact text NOT NULL,
  -- The message of the last reply. If it is not stored, it is being accepted, or that failed.
  message_id uuid NOT NULL,
  -- The last answer before, by any sender; NULL if there was none.
  previous_id uuid,
  -- The send that claimed the conversation last: its repeats with the same Idempotency-Key have the same value.
  attempt uuid NOT NULL,
  PRIMARY KEY (team_id, phone_number, contact)
);
COMMENT ON TABLE conversation_answers IS
  'team; erased by handle; kept for RETENTION_DAYS; a person; in backups. The last answer to a conversation.';

