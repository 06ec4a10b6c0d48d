-- Runs of the nightly backup (specification section 10.10).
CREATE TABLE backups (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  started_at timestamptz NOT NULL,
  finished_at timestamptz NOT NULL,
  -- The file; NULL where the run failed.
  file text,
  bytes bigint,
  -- A sentence; NULL where it succeeded.
  error text,
  CONSTRAINT backup_ends_once CHECK ((error IS NULL) = (file IS NOT NULL) AND (file IS NULL) = (bytes IS NULL))
);
CREATE INDEX backups_by_end ON backups (finished_at);
