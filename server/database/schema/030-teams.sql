CREATE TABLE teams (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  plan text NOT NULL CHECK (plan IN ('free', 'starter', 'pro', 'enterprise')),
  monthly_message_limit bigint NOT NULL CHECK (monthly_message_limit >= 0),
  created_at timestamptz NOT NULL,
  -- The routing tag in the team's keys and device tokens (decision 0051). It never changes.
  route text NOT NULL UNIQUE CHECK (route ~ '^[a-z0-9]{4}$')
);
COMMENT ON TABLE teams IS
  'team; not erased; kept until deleted; no person; in backups. A team with its plan.';

-- Test teams: requests with a team's test keys act for its test team (specification section 5.4, decision 0042).
CREATE TABLE test_teams (
  team_id uuid PRIMARY KEY REFERENCES teams (id),
  test_team_id uuid NOT NULL UNIQUE REFERENCES teams (id),
  UNIQUE (team_id, test_team_id)
);
COMMENT ON TABLE test_teams IS
  'team; not erased; kept until deleted; no person; in backups. The team for which a team''s test keys act.';

-- The demo team: made-up data, which `ownline demo --remove` deletes with all its rows.
CREATE TABLE demo_team (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  team_id uuid NOT NULL UNIQUE REFERENCES teams (id)
);
COMMENT ON TABLE demo_team IS
  'team; not erased; kept until deleted; no person; in backups. One row at most: the team with made-up data.';

-- A person in a team, with a usr_ id. The row of a removed member stays, because keys and the audit log refer to it.
CREATE TABLE members (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  account_id uuid NOT NULL REFERENCES accounts (id),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz NOT NULL,
  removed_at timestamptz,
  PRIMARY KEY (team_id, id),
  UNIQUE (id)
);
COMMENT ON TABLE members IS
  'team; not erased; kept until deleted; a person; in backups. An account in a team, with its role.';
CREATE UNIQUE INDEX members_one_per_account ON members (team_id, account_id) WHERE removed_at IS NULL;
CREATE INDEX members_account ON members (account_id) WHERE removed_at IS NULL;

-- A link by which a person joins a team. Only an owner link, which the operator makes, may be open to any address.
CREATE TABLE invitations (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  email text,
  normalized_email text CHECK (char_length(normalized_email) BETWEEN 3 AND 254),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  -- The inviting member; NULL if an API key or the operator made the invitation.
  invited_by uuid,
  -- True if only the owner of the address can have the link: it was mailed, or made by the operator. False if an
  -- inviter saw it.
  verifies_email boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  revoked_at timestamptz,
  -- The form and the account that accepted the invitation, so that a second submit of the same form signs in as well.
  form_token_hash bytea CHECK (octet_length(form_token_hash) = 32),
  accepted_by uuid REFERENCES accounts (id),
  CHECK (accepted_at IS NULL OR revoked_at IS NULL),
  CHECK ((email IS NULL) = (normalized_email IS NULL)),
  CHECK (email IS NOT NULL OR role = 'owner'),
  CHECK ((form_token_hash IS NULL) = (accepted_by IS NULL)),
  PRIMARY KEY (team_id, id),
  UNIQUE (id),
  FOREIGN KEY (team_id, invited_by) REFERENCES members (team_id, id)
);
COMMENT ON TABLE invitations IS
  'team; not erased; kept while needed; a person; in backups. Links that make a member.';
-- An expired invitation also counts: it is revoked before the address gets another one.
CREATE UNIQUE INDEX invitations_one_open ON invitations (team_id, normalized_email)
  WHERE accepted_at IS NULL AND revoked_at IS NULL;
