-- A later setup link of a number has a higher generation, and so has the device that was connected with it.
CREATE SEQUENCE device_generation AS bigint;
CREATE TABLE setup_links (
  team_id uuid NOT NULL,
  id uuid NOT NULL,
  number_id uuid NOT NULL,
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  generation bigint NOT NULL DEFAULT nextval('device_generation'),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- When a person pressed Done on the setup page, or a newer link replaced this one.
  ended_at timestamptz,
  PRIMARY KEY (team_id, id),
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id)
);
COMMENT ON TABLE setup_links IS
  'team; not erased; kept while needed; no person; in backups. Links that connect a phone to a number.';
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
  -- When the device was replaced. Its token is still accepted for late reports, but its polls are answered with stop.
  ended_at timestamptz,
  -- For the tests on the setup page: the kinds of received texts that this phone has passed on.
  received_tests text[] NOT NULL DEFAULT '{}',
  -- When the device described itself differently at a takeover; NULL once a person has dismissed that notice.
  changed_at timestamptz,
  previous_name text,
  previous_system_version text,
  CONSTRAINT device_change_is_whole CHECK (num_nulls(changed_at, previous_name, previous_system_version) IN (0, 3)),
  PRIMARY KEY (team_id, id),
  UNIQUE (team_id, setup_link_id),
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id),
  FOREIGN KEY (team_id, setup_link_id) REFERENCES setup_links (team_id, id)
);
COMMENT ON TABLE devices IS
  'team; not erased; kept until deleted; a person; in backups. Phones that were connected with a setup link.';
CREATE INDEX devices_number ON devices (number_id);

-- The one session of a number that may be handed messages. Its row lock orders polls, hand-outs and takeovers. The
-- slice device-protocol counts polls and extends sessions, in one statement for all polls of 20 ms. The slice messages
-- counts requeues and hand-outs under that row lock.
CREATE TABLE device_sessions (
  number_id uuid PRIMARY KEY,
  team_id uuid NOT NULL,
  device_id uuid NOT NULL,
  session_id uuid NOT NULL,
  -- Counts the polls of the session; only the newest is handed a message.
  poll_sequence bigint NOT NULL,
  expires_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  -- Counts the messages that returned to the queue. If the count changed while a hand-out waited for the row lock, the
  -- hand-out reads the queue again.
  requeue_count bigint NOT NULL DEFAULT 0,
  -- How many messages of the phone number were handed out while it was paced, without those that returned to the queue.
  hand_out_total bigint NOT NULL DEFAULT 0,
  -- When the phone last closed the connection of a held poll, and when it last took a message.
  left_at timestamptz,
  handed_out_at timestamptz,
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id),
  FOREIGN KEY (team_id, device_id) REFERENCES devices (team_id, id)
);
COMMENT ON TABLE device_sessions IS
  'team; not erased; kept until deleted; no person; in backups; also written by device-protocol and messages. The one session of a number that may be handed messages.';
