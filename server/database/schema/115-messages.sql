-- The search index (decision 0061): runs of a team's messages in the order of their ids, each with the signature of its
-- texts. Messages without a segment, such as the newest, are read by each search.
CREATE TABLE message_segments (
  team_id uuid NOT NULL REFERENCES teams (id),
  first_id uuid NOT NULL,
  last_id uuid NOT NULL,
  -- A Bloom filter of the beginnings of words and of last digits. Empty after an erasure, until it is signed again.
  signature bytea NOT NULL CHECK (octet_length(signature) <= 4000),
  PRIMARY KEY (team_id, last_id),
  CHECK (first_id <= last_id)
);
COMMENT ON TABLE message_segments IS
  'team; erased by handle; kept for RETENTION_DAYS; a person; in backups. Runs of messages, with a signature of their words.';
-- A search reads the signatures of many rows in turn.
ALTER TABLE message_segments ALTER signature SET STORAGE PLAIN;
CREATE INDEX message_segments_erased ON message_segments (team_id, last_id) WHERE signature = '';
