-- Opt-outs (specification section 4.6): the row of a contact stays when the contact opts in again, so that the order of
-- its changes is known.
CREATE TABLE opt_outs (
  team_id uuid NOT NULL REFERENCES teams (id),
  -- A hash of the contact, with a key that is derived from SECRETS_KEY. It identifies the contact only when the server
  -- gets the contact again.
  contact_hash uuid NOT NULL,
  -- The normalized handle; NULL after an erasure of a contact that is opted out.
  contact text CHECK (char_length(contact) BETWEEN 1 AND 320),
  -- The id of the contact's latest opt-out. Each opt-out gets a new id, so that ids sort by time.
  id uuid NOT NULL,
  -- The sequence of the contact's latest event: 1, 2, 3 … per contact.
  sequence integer NOT NULL CHECK (sequence > 0),
  opted_out_at timestamptz NOT NULL,
  -- NULL while the contact is opted out.
  opted_in_at timestamptz,
  -- When a START arrived that may be a late repeat of a START before this opt-out, and therefore changed nothing.
  ignored_start_at timestamptz,
  -- The cause of the opt-out: an inbound message, and the number that received it, or a request.
  message_id uuid,
  phone_number text,
  request_id text,
  PRIMARY KEY (team_id, contact_hash),
  CHECK (contact IS NOT NULL OR opted_in_at IS NULL),
  CHECK (opted_in_at IS NULL OR ignored_start_at IS NULL),
  CONSTRAINT opt_out_has_one_cause CHECK (num_nonnulls(message_id, request_id) = 1
    AND (message_id IS NULL) = (phone_number IS NULL))
);
COMMENT ON TABLE opt_outs IS
  'team; erased by handle; kept until deleted; a person; in backups. Contacts that opted out, or did once.';
CREATE UNIQUE INDEX opt_outs_contact ON opt_outs (team_id, contact) WHERE contact IS NOT NULL;
CREATE UNIQUE INDEX opt_outs_newest ON opt_outs (team_id, id) WHERE opted_in_at IS NULL AND contact IS NOT NULL;
-- The sweep looks for messages to contacts that opted out lately.
CREATE INDEX opt_outs_recent ON opt_outs (opted_out_at) WHERE opted_in_at IS NULL;

-- Erasures of contacts that are not finished (specification section 12.14): meanwhile only these rows contain the
-- contact. If a process dies, another one continues its erasure.
CREATE TABLE erasures (
  team_id uuid NOT NULL REFERENCES teams (id),
  -- The normalized handle.
  contact text NOT NULL CHECK (char_length(contact) BETWEEN 1 AND 320),
  -- Spellings of the contact in messages, itself included.
  handles text[] NOT NULL,
  -- Messages with greater ids came after the erasure began, and stay.
  until_id uuid NOT NULL,
  -- How many events of the contact were written, as far as its opt-out counts them.
  contact_events integer NOT NULL CHECK (contact_events >= 0),
  created_at timestamptz NOT NULL,
  -- The erasure of the contact's events goes on with ids below this one; NULL before its first step.
  events_before uuid,
  PRIMARY KEY (team_id, contact)
);
COMMENT ON TABLE erasures IS
  'team; erased by handle; kept while needed; a person; in backups. Erasures of contacts that are not finished.';
ALTER TABLE erasures ALTER contact SET STATISTICS 0, ALTER handles SET STATISTICS 0;
