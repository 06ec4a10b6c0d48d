-- Media: the file of a message, or an upload that messages may copy, in chunks (decision 0025). A file is written in several transactions, and is complete with
-- the last one. An inbound file is written before its message, so no foreign key points at messages.
CREATE SEQUENCE media_file_id AS bigint;
CREATE TABLE media (
  -- An upload has no message: its row has the id of the upload here.
  message_id uuid NOT NULL,
  -- Each try to write a file has an id of its own, so chunks of an interrupted try never become part of another file.
  file_id bigint NOT NULL DEFAULT nextval('media_file_id'),
  team_id uuid NOT NULL REFERENCES teams (id),
  -- Name with the extension of its type, in characters that need no escape in a path.
  name text NOT NULL CHECK (name ~ '^[A-Za-z0-9._-]{1,100}$'),
  -- The media type that the bytes have, whatever type the sender named.
  type text NOT NULL,
  created_at timestamptz NOT NULL,
  is_complete boolean NOT NULL DEFAULT false,
  size_bytes integer CHECK (size_bytes BETWEEN 1 AND 5242880),
  sha256 bytea CHECK (octet_length(sha256) = 32),
  -- Until when an upload is kept; NULL for the file of a message.
  expires_at timestamptz,
  -- Whether a message has a copy of an upload.
  is_used boolean NOT NULL DEFAULT false CHECK (expires_at IS NOT NULL OR NOT is_used),
  PRIMARY KEY (message_id, file_id),
  UNIQUE (team_id, message_id, file_id),
  CONSTRAINT complete_has_size CHECK (is_complete = (size_bytes IS NOT NULL) AND is_complete = (sha256 IS NOT NULL))
);
COMMENT ON TABLE media IS
  'team; erased by handle; kept for RETENTION_DAYS; a person; in backups. A file of a message, or an upload.';
CREATE UNIQUE INDEX media_one_complete ON media (message_id) WHERE is_complete;
CREATE INDEX media_incomplete ON media (created_at) WHERE NOT is_complete;
CREATE INDEX media_unused_uploads ON media (team_id, expires_at) WHERE expires_at IS NOT NULL AND NOT is_used;
CREATE INDEX media_uploads ON media (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX media_upload_bytes ON media (team_id, sha256) WHERE expires_at IS NOT NULL;

CREATE TABLE media_chunks (
  team_id uuid NOT NULL,
  message_id uuid NOT NULL,
  file_id bigint NOT NULL,
  position smallint NOT NULL CHECK (position >= 0),
  data bytea NOT NULL CHECK (octet_length(data) BETWEEN 1 AND 262144),
  PRIMARY KEY (message_id, file_id, position),
  FOREIGN KEY (team_id, message_id, file_id) REFERENCES media (team_id, message_id, file_id) ON DELETE CASCADE
);
COMMENT ON TABLE media_chunks IS
  'team; erased by handle; kept for RETENTION_DAYS; a person; in backups. The bytes of a file, in parts.';
-- Pictures, videos and sounds are compressed already.
ALTER TABLE media_chunks ALTER data SET STORAGE EXTERNAL;
