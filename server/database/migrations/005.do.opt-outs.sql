-- Opt-outs (specification section 4.6): the row of a contact stays when it opts in, so that the order of its changes is known.
CREATE TABLE opt_outs (
  team_id uuid NOT NULL REFERENCES teams (id),
  -- The normalized handle.
  contact text NOT NULL CHECK (char_length(contact) BETWEEN 1 AND 320),
  -- Of the latest opt-out; each has its own, so that ids sort by time.
  id uuid NOT NULL,
  -- 1, 2, 3 … per contact: the sequence of its latest event.
  sequence integer NOT NULL CHECK (sequence > 0),
  opted_out_at timestamptz NOT NULL,
  -- NULL while the contact is opted out.
  opted_in_at timestamptz,
  -- The cause of the opt-out: an inbound message, and the number that received it, or a request.
  message_id uuid,
  phone_number text,
  request_id text,
  PRIMARY KEY (team_id, contact),
  CONSTRAINT opt_out_has_one_cause CHECK (num_nonnulls(message_id, request_id) = 1
    AND (message_id IS NULL) = (phone_number IS NULL))
);
CREATE UNIQUE INDEX opt_outs_newest ON opt_outs (team_id, id) WHERE opted_in_at IS NULL;
-- The sweep looks for messages to contacts that opted out lately.
CREATE INDEX opt_outs_recent ON opt_outs (opted_out_at) WHERE opted_in_at IS NULL;

ALTER TABLE messages
  DROP CONSTRAINT messages_error_code_check,
  ADD CONSTRAINT messages_error_code_check CHECK (error_code IN ('expired', 'cancelled', 'number_removed', 'opted_out',
    'media_unavailable', 'media_too_large', 'device_timeout', 'device_error', 'not_delivered'));

-- An event is of a message or of a contact. Its sequence counts per message or contact; a contact may change more often than a
-- smallint counts.
ALTER TABLE events
  ADD COLUMN contact text,
  ALTER COLUMN message_id DROP NOT NULL,
  ALTER COLUMN number_id DROP NOT NULL,
  ALTER COLUMN sequence TYPE integer,
  DROP CONSTRAINT events_type_check,
  ADD CONSTRAINT events_type_check CHECK (type IN ('message.received', 'message.sent', 'message.delivered', 'message.failed',
    'contact.opted_out', 'contact.opted_in')),
  ADD CONSTRAINT event_has_one_subject CHECK (CASE
    WHEN type IN ('contact.opted_out', 'contact.opted_in') THEN contact IS NOT NULL AND message_id IS NULL
    ELSE contact IS NULL AND message_id IS NOT NULL AND number_id IS NOT NULL END);

ALTER TABLE webhooks
  DROP CONSTRAINT webhooks_events_check,
  ADD CONSTRAINT webhooks_events_check CHECK (cardinality(events) BETWEEN 1 AND 6 AND
    events <@ ARRAY['message.received', 'message.sent', 'message.delivered', 'message.failed',
      'contact.opted_out', 'contact.opted_in']);
