-- Test keys (specification section 5.4, decision 0042): a team of its own for the requests of a team's test keys.
-- No column of teams: the previous release reads all of them by statements that it has prepared.
CREATE TABLE test_teams (
  team_id uuid PRIMARY KEY REFERENCES teams (id),
  test_team_id uuid NOT NULL UNIQUE REFERENCES teams (id),
  UNIQUE (team_id, test_team_id)
);

ALTER TABLE api_keys
  -- The test team for which a test key acts; NULL for a live key.
  ADD COLUMN test_team_id uuid,
  ADD FOREIGN KEY (team_id, test_team_id) REFERENCES test_teams (team_id, test_team_id);

-- All test teams have the same phone number. Every other one is verified once.
DROP INDEX numbers_one_verified;
CREATE UNIQUE INDEX numbers_one_verified ON numbers (phone_number,
    (CASE phone_number WHEN '+15005550100' THEN team_id ELSE '00000000-0000-0000-0000-000000000000' END))
  WHERE verified_at IS NOT NULL AND deleted_at IS NULL;

-- A test team has the test line and no other number; no other team has it.
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
CREATE TRIGGER numbers_test_line BEFORE INSERT ON numbers FOR EACH ROW EXECUTE FUNCTION guard_test_line();
