CREATE TABLE numbers (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  phone_number text NOT NULL CHECK (phone_number ~ '^\+[1-9][0-9]{6,14}$'),
  label text NOT NULL DEFAULT '' CHECK (char_length(label) <= 100),
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused')),
  -- When a phone polled for this number first. Until then the number is pending, and it is deleted at pending_until.
  verified_at timestamptz,
  pending_until timestamptz,
  on_unconfirmed text NOT NULL DEFAULT 'fail' CHECK (on_unconfirmed IN ('fail', 'retry_once')),
  created_at timestamptz NOT NULL,
  deleted_at timestamptz,
  -- The number's own pacing, in the form of PUT /v1/numbers/:id. The defaults of PACING apply for NULL and for missing
  -- fields (specification section 8, decision 0026).
  pacing jsonb CHECK (jsonb_typeof(pacing) = 'object'),
  -- The server runs the phone of a simulated number (specification section 12.13, decision 0033).
  is_simulated boolean NOT NULL DEFAULT false,
  CHECK ((verified_at IS NULL) = (pending_until IS NOT NULL)),
  PRIMARY KEY (team_id, id),
  UNIQUE (id),
  -- A simulated number is one of those reserved for fiction, so it never reaches a person.
  CONSTRAINT simulated_is_fictional CHECK (NOT is_simulated OR phone_number ~ '^\+1[2-9][0-9]{2}55501[0-9]{2}$')
);
COMMENT ON TABLE numbers IS
  'team; not erased; kept until deleted; a person; in backups. Phone numbers of teams.';
-- A phone number belongs to one team of the installation: the team whose phone polls first. Only the phone number of
-- the test line is shared, by all test teams.
CREATE UNIQUE INDEX numbers_one_verified ON numbers (phone_number,
    (CASE phone_number WHEN '+15005550100' THEN team_id ELSE '00000000-0000-0000-0000-000000000000' END))
  WHERE verified_at IS NOT NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX numbers_one_per_team ON numbers (team_id, phone_number) WHERE deleted_at IS NULL;
CREATE INDEX numbers_deleted ON numbers (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX numbers_pending ON numbers (pending_until) WHERE verified_at IS NULL AND deleted_at IS NULL;
CREATE UNIQUE INDEX numbers_one_simulated ON numbers (team_id) WHERE is_simulated AND deleted_at IS NULL;
-- A number that was deleted and connected again has several rows; the one with the greatest id is the latest.
CREATE INDEX numbers_of_phone ON numbers (team_id, phone_number, id);

-- A test team has the test line and no other number; no other team has the test line. This rule across tables is a
-- deferrable constraint trigger, because a restore can check it only after the last row (decision 0037).
CREATE FUNCTION guard_test_line() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.phone_number = '+15005550100' AND NEW.is_simulated)
    <> EXISTS (SELECT FROM test_teams WHERE test_team_id = NEW.team_id) THEN
    RAISE EXCEPTION 'a test team has the test line and no other number'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'numbers_test_line';
  END IF;
  RETURN NEW;
END
$$;
CREATE CONSTRAINT TRIGGER numbers_test_line AFTER INSERT ON numbers DEFERRABLE FOR EACH ROW EXECUTE FUNCTION guard_test_line();

-- The period in which polls of phones were served: one row, which processes with the role api update every few seconds.
-- After a gap a new period begins, so time without a server does not count as silence of a phone (specification section
-- 4.7).
CREATE TABLE poll_service (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  served_since timestamptz NOT NULL,
  served_until timestamptz NOT NULL
);
COMMENT ON TABLE poll_service IS
  'installation; not erased; kept until deleted; no person; not in backups. One row: since when polls were served without a gap.';
INSERT INTO poll_service (served_since, served_until) VALUES (to_timestamp(0), to_timestamp(0));

-- The latest reported change of a number's health. A number without a row never went offline.
CREATE TABLE number_health (
  number_id uuid PRIMARY KEY,
  team_id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('online', 'offline')),
  since timestamptz NOT NULL,
  -- The value of device_sessions.last_seen_at at the change. A later value there means that the phone has polled since.
  last_seen_at timestamptz NOT NULL,
  -- The sequence of the number's latest event: 1, 2, 3 … per number.
  sequence integer NOT NULL CHECK (sequence > 0),
  -- The state that the latest mail named. A mail is due while it differs from the state.
  mailed_state text NOT NULL DEFAULT 'online' CHECK (mailed_state IN ('online', 'offline')),
  offline_mailed_at timestamptz,
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id)
);
COMMENT ON TABLE number_health IS
  'team; not erased; kept until deleted; no person; in backups. The latest change of a number''s health that was reported.';
CREATE INDEX number_health_of_team ON number_health (team_id);

-- The leases of simulated phones: one process runs the phone of a number.
CREATE TABLE simulated_phones (
  number_id uuid PRIMARY KEY,
  team_id uuid NOT NULL,
  -- The random id of the process that has the lease.
  holder uuid NOT NULL,
  leased_until timestamptz NOT NULL,
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id)
);
COMMENT ON TABLE simulated_phones IS
  'team; not erased; kept while needed; no person; in backups. Leases of simulated phones.';
