-- The schema is version 1, the schema of the first release. Each file has the tables of one slice, in the order of
-- their foreign keys. Another slice writes to a table only if the table's comment names that slice.
-- docs/internals/invariants.md lists the invariants. Times come from the application's clock: nothing here calls now()
-- (decision 0020).

-- Versions of the schema that this database has. Version 1 is these files; each later version is a migration (decision
-- 0050).
CREATE TABLE schema_versions (
  version integer PRIMARY KEY CHECK (version > 0),
  -- SHA-256 of the SQL that was run.
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32)
);
COMMENT ON TABLE schema_versions IS
  'installation; not erased; kept until deleted; no person; not in backups. Versions of the schema that the database has.';

CREATE TABLE instance (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  secrets_key_fingerprint bytea NOT NULL,
  -- When an erasure of a contact last ended: tables are analyzed after it (specification section 12.14). NULL before the first one.
  last_erased_at timestamptz
);
COMMENT ON TABLE instance IS
  'installation; not erased; kept until deleted; no person; in backups. One row: the fingerprint of the secrets key, and the time of the last erasure.';

-- Holds on what goes out, until a person resumes (specification section 10.8). After a restore nothing goes out (decision
-- 0034); after an outage that lost commits, or at an operator's wish, no message that was queued (decision 0060).
CREATE TABLE holds (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  reason text NOT NULL CHECK (reason IN ('restore', 'outage')),
  held_at timestamptz NOT NULL,
  -- The moment of the snapshot that was restored, and the release that made it; NULL after an outage.
  backup_taken_at timestamptz,
  product_version text,
  schema_version integer,
  resumed_at timestamptz,
  -- The actor who resumed, and the actor's choices.
  resumed_by_kind text CHECK (resumed_by_kind IN ('member', 'operator')),
  resumed_by_id text,
  resumed_by_name text,
  cancelled_messages boolean,
  skipped_deliveries boolean,
  CONSTRAINT resumed_by_an_actor CHECK (
    num_nulls(resumed_at, resumed_by_kind, resumed_by_id, resumed_by_name, cancelled_messages, skipped_deliveries) IN (0, 6)
  ),
  CONSTRAINT restore_has_backup CHECK (num_nulls(backup_taken_at, product_version, schema_version) = CASE reason WHEN 'restore' THEN 0 ELSE 3 END)
);
COMMENT ON TABLE holds IS
  'installation; not erased; kept until deleted; no person; in backups. Holds after restores and outages, and who resumed them.';

-- Promotions of standbys, each of which begins a timeline of the cluster `system`. No process claims messages on a
-- timeline that is not checked (decision 0060).
CREATE TABLE promotions (
  system text NOT NULL,
  timeline integer NOT NULL,
  noticed_at timestamptz NOT NULL,
  -- The processes that found their last hand-outs.
  vouched uuid[] NOT NULL DEFAULT '{}',
  -- Processes that began to claim on this timeline, counted. The next promotion has to keep the count of each.
  starts integer NOT NULL DEFAULT 0,
  lost_commits boolean NOT NULL DEFAULT false,
  -- When claims began. If commits were lost, the queue was held before.
  checked_at timestamptz,
  PRIMARY KEY (system, timeline)
);
COMMENT ON TABLE promotions IS
  'installation; not erased; kept until deleted; no person; not in backups. Promotions of standbys, and whether they lost commits.';

-- Runs of the nightly backup (specification section 10.10).
CREATE TABLE backups (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  started_at timestamptz NOT NULL,
  finished_at timestamptz NOT NULL,
  -- The file; NULL if the run failed.
  file text,
  bytes bigint,
  -- A sentence; NULL if the run succeeded.
  error text,
  -- A sentence on what the check of the file left open; NULL if the check loaded all of it into an empty database.
  unproved text,
  CONSTRAINT backup_ends_once CHECK ((error IS NULL) = (file IS NOT NULL) AND (file IS NULL) = (bytes IS NULL))
);
COMMENT ON TABLE backups IS
  'installation; not erased; kept while needed; no person; not in backups. Runs of the nightly backup.';
CREATE INDEX backups_by_end ON backups (finished_at);

-- How far retention has deleted the old rows of each table (specification section 10.9).
CREATE TABLE retention_progress (
  history text PRIMARY KEY,
  -- Rows from before this time were deleted, or stay because they were not finished.
  walked_until timestamptz NOT NULL
);
COMMENT ON TABLE retention_progress IS
  'installation; not erased; kept until deleted; no person; not in backups. How far retention has come in each history.';

-- The service's time and the database's clock (decision 0020). All processes take the same time from these rows.
CREATE TABLE service_clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- The service's time minus the database's clock: a step of that clock that the service does not follow yet. 0 while
  -- the clock is trusted.
  held_ms bigint NOT NULL DEFAULT 0,
  -- When the database's clock last stepped, in the service's time; NULL while that clock is trusted.
  stepped_at timestamptz,
  -- The sum of all steps that were followed: how far the service's time has jumped.
  followed_ms bigint NOT NULL DEFAULT 0,
  -- Counts the changes of this row: a process that decided by an older version reads and decides again.
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT stepped_while_held CHECK ((held_ms = 0) = (stepped_at IS NULL))
);
COMMENT ON TABLE service_clock IS
  'installation; not erased; kept until deleted; no person; not in backups. One row: how far the service''s time is from the database''s clock.';
INSERT INTO service_clock DEFAULT VALUES;

-- The service's time together with the machine's uptime, a clock that is never set. From both, a process that starts
-- during the same boot computes how much time has passed.
CREATE TABLE clock_readings (
  boot_id uuid PRIMARY KEY,
  -- Milliseconds since the boot: `uptime_ms` includes the time that the machine slept, `monotonic_ms` does not.
  uptime_ms bigint NOT NULL,
  monotonic_ms bigint NOT NULL,
  service_at timestamptz NOT NULL,
  -- The value of service_clock.followed_ms at service_at.
  followed_ms bigint NOT NULL
);
COMMENT ON TABLE clock_readings IS
  'installation; not erased; kept while needed; no person; not in backups. The service''s time beside the uptime of each machine.';
