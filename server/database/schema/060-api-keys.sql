CREATE TABLE api_keys (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  permissions text[] NOT NULL CHECK (cardinality(permissions) > 0),
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  -- The member who created the key; NULL if the operator did.
  created_by uuid,
  -- Written with a delay of some seconds.
  last_used_at timestamptz,
  -- A send of the key answers its conversation for the team.
  answers_for_team boolean NOT NULL DEFAULT false,
  -- The test team for which a test key acts; NULL for a live key.
  test_team_id uuid,
  PRIMARY KEY (team_id, id),
  UNIQUE (id),
  FOREIGN KEY (team_id, created_by) REFERENCES members (team_id, id),
  FOREIGN KEY (team_id, test_team_id) REFERENCES test_teams (team_id, test_team_id)
);
COMMENT ON TABLE api_keys IS
  'team; not erased; kept until deleted; no person; in backups. API keys, by their hash.';
