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
  -- The token still counts for late reports, but polls are answered with stop.
  ended_at timestamptz,
  -- Tests of a phone on the setup page: each kind of received text that this phone passed on.
  received_tests text[] NOT NULL DEFAULT '{}',
  -- The device described itself differently at a takeover, until a person dismisses that.
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

-- The one session of a number that may be handed messages. Its row lock orders polls, hand-outs and takeovers.
-- device-protocol counts polls and extends the session in one statement for all of 20 ms. messages counts requeues and
-- hand-outs under the row lock that orders them.
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
  -- How many hand-outs the number has had while it was paced, without those that were released.
  hand_out_total bigint NOT NULL DEFAULT 0,
  -- What the phone did last: it hung up while its poll was held, or took a message.
  left_at timestamptz,
  handed_out_at timestamptz,
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id),
  FOREIGN KEY (team_id, device_id) REFERENCES devices (team_id, id)
);
COMMENT ON TABLE device_sessions IS
  'team; not erased; kept until deleted; no person; in backups; also written by device-protocol and messages. The one session of a number that may be handed messages.';
