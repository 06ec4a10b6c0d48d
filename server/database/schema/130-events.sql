-- The outbox: events, each about a message, a contact or a number. A message is purged after its last event
-- (specification section 10.9).
CREATE TABLE events (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  type text NOT NULL CHECK (type IN ('message.received', 'message.sent', 'message.delivered', 'message.failed',
    'contact.opted_out', 'contact.opted_in', 'number.offline', 'number.online')),
  message_id uuid,
  number_id uuid,
  -- The event's number: 1, 2, 3 … per message, contact or number. A contact may change more often than a smallint
  -- counts.
  sequence integer NOT NULL CHECK (sequence > 0),
  -- The envelope's data as JSON, serialised once: every attempt sends these bytes.
  data text NOT NULL,
  created_at timestamptz NOT NULL,
  contact text,
  CONSTRAINT event_has_one_subject CHECK (CASE
    WHEN type IN ('contact.opted_out', 'contact.opted_in') THEN contact IS NOT NULL AND message_id IS NULL
    WHEN type IN ('number.offline', 'number.online') THEN contact IS NULL AND message_id IS NULL AND number_id IS NOT NULL
    ELSE contact IS NULL AND message_id IS NOT NULL AND number_id IS NOT NULL END),
  FOREIGN KEY (team_id, message_id) REFERENCES messages (team_id, id)
);
COMMENT ON TABLE events IS
  'team; erased by handle; kept for RETENTION_DAYS; a person; in backups. A change of a message, a contact or a number.';
-- For the events of a message, and for the foreign key. A send does not write to this index, because it writes no
-- event.
CREATE INDEX events_of_message ON events (team_id, message_id) WHERE message_id IS NOT NULL;
-- Created last, for the same reason as the primary key of messages.
ALTER TABLE events ADD PRIMARY KEY (team_id, id);

-- Events without a position in the feed, in the order in which they were written. The publisher takes them.
CREATE SEQUENCE unpublished_events_seq AS bigint CACHE 1;
CREATE TABLE unpublished_events (
  seq bigint PRIMARY KEY DEFAULT nextval('unpublished_events_seq'),
  team_id uuid NOT NULL,
  event_id uuid NOT NULL
);
COMMENT ON TABLE unpublished_events IS
  'team; not erased; kept while needed; no person; in backups. Events that have no position in the feed yet.';

-- The feed: one publisher at a time gives positions, in the order of its commits, so that no event gets a position that
-- a reader has already passed.
CREATE SEQUENCE event_feed_position AS bigint CACHE 1;
CREATE TABLE event_feed (
  team_id uuid NOT NULL,
  position bigint NOT NULL DEFAULT nextval('event_feed_position'),
  event_id uuid NOT NULL,
  PRIMARY KEY (team_id, position)
);
COMMENT ON TABLE event_feed IS
  'team; not erased; kept for RETENTION_DAYS; no person; in backups. The positions of events in the feed of their team.';
CREATE UNIQUE INDEX event_feed_of_event ON event_feed (team_id, event_id);

-- The newest position of each team's feed that has lost its event. A reader whose position is lower may have missed an
-- event. `event_id` is null for a position that a restore set aside: its events are unknown.
CREATE TABLE feed_removals (
  team_id uuid PRIMARY KEY,
  position bigint NOT NULL,
  event_id uuid
);
COMMENT ON TABLE feed_removals IS
  'team; not erased; kept until deleted; no person; in backups. The newest position of a feed that has lost its event.';
