-- Health of numbers (specification section 4.7): whether their phones poll.

-- When polls were served, by any process of role api: one row, which they write every few seconds. A gap begins it anew, so
-- time without a server counts as no silence of a phone.
CREATE TABLE poll_service (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  served_since timestamptz NOT NULL,
  served_until timestamptz NOT NULL
);
INSERT INTO poll_service (served_since, served_until) VALUES (to_timestamp(0), to_timestamp(0));

-- The latest change of a number that was reported. Without a row its phone never went offline.
CREATE TABLE number_health (
  number_id uuid PRIMARY KEY,
  team_id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('online', 'offline')),
  since timestamptz NOT NULL,
  -- device_sessions.last_seen_at at the change: a poll after it is new.
  last_seen_at timestamptz NOT NULL,
  -- 1, 2, 3 … per number: the sequence of its latest event.
  sequence integer NOT NULL CHECK (sequence > 0),
  -- The state that the latest mail named. A mail is due while it differs from the state.
  mailed_state text NOT NULL DEFAULT 'online' CHECK (mailed_state IN ('online', 'offline')),
  offline_mailed_at timestamptz,
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id)
);
CREATE INDEX number_health_of_team ON number_health (team_id);

-- What the phone did last: it hung up while its poll was held, or took a message.
ALTER TABLE device_sessions
  ADD COLUMN left_at timestamptz,
  ADD COLUMN handed_out_at timestamptz;

-- The device described itself differently at a takeover, until a person dismisses that.
ALTER TABLE devices
  ADD COLUMN changed_at timestamptz,
  ADD COLUMN previous_name text,
  ADD COLUMN previous_system_version text,
  ADD CONSTRAINT device_change_is_whole CHECK (num_nulls(changed_at, previous_name, previous_system_version) IN (0, 3));

-- An event is of a message, a contact or a number. NOT VALID: the rows of before satisfied a narrower check, so no scan of the
-- history holds its lock.
ALTER TABLE events
  DROP CONSTRAINT events_type_check,
  ADD CONSTRAINT events_type_check CHECK (type IN ('message.received', 'message.sent', 'message.delivered', 'message.failed',
    'contact.opted_out', 'contact.opted_in', 'number.offline', 'number.online')) NOT VALID,
  DROP CONSTRAINT event_has_one_subject,
  ADD CONSTRAINT event_has_one_subject CHECK (CASE
    WHEN type IN ('contact.opted_out', 'contact.opted_in') THEN contact IS NOT NULL AND message_id IS NULL
    WHEN type IN ('number.offline', 'number.online') THEN contact IS NULL AND message_id IS NULL AND number_id IS NOT NULL
    ELSE contact IS NULL AND message_id IS NOT NULL AND number_id IS NOT NULL END) NOT VALID;

ALTER TABLE webhooks
  DROP CONSTRAINT webhooks_events_check,
  ADD CONSTRAINT webhooks_events_check CHECK (cardinality(events) BETWEEN 1 AND 8 AND
    events <@ ARRAY['message.received', 'message.sent', 'message.delivered', 'message.failed',
      'contact.opted_out', 'contact.opted_in', 'number.offline', 'number.online']);
