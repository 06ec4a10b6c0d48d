-- People: accounts and how they sign in, who is a member of which team, who did what, and what was used
-- (docs/architecture.md lists the invariants).

-- A person, by their address. It comes to life only by a link that was sent to it or made by the operator.
CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  -- The address as it is compared: one account for each.
  email_key text NOT NULL UNIQUE CHECK (char_length(email_key) BETWEEN 3 AND 254),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  -- argon2id, in the PHC form; without one the account signs in by link or passkey.
  password_hash text,
  -- When a link that only reaches the address, or that the operator made, was first used; NULL before: whoever made the
  -- account may then have been shown its invitation.
  proven_at timestamptz,
  created_at timestamptz NOT NULL
);

-- Who is signed in where. Signing out deletes the row.
CREATE TABLE account_sessions (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  method text NOT NULL CHECK (method IN ('link', 'password', 'passkey', 'invitation')),
  ip text NOT NULL,
  user_agent text NOT NULL CHECK (char_length(user_agent) <= 300),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX account_sessions_account ON account_sessions (account_id);
CREATE INDEX account_sessions_expiry ON account_sessions (expires_at);

-- One use each, by UPDATE … RETURNING.
CREATE TABLE sign_in_links (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX sign_in_links_account ON sign_in_links (account_id);
CREATE INDEX sign_in_links_expiry ON sign_in_links (expires_at);

CREATE TABLE passkeys (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  credential_id bytea NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  counter bigint NOT NULL CHECK (counter >= 0),
  transports text[] NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  created_at timestamptz NOT NULL,
  last_used_at timestamptz
);
CREATE INDEX passkeys_account ON passkeys (account_id);

-- What a passkey has to sign: one use each, by DELETE … RETURNING. Without an account it is for signing in.
CREATE TABLE passkey_challenges (
  challenge_hash bytea PRIMARY KEY CHECK (octet_length(challenge_hash) = 32),
  account_id uuid REFERENCES accounts (id),
  expires_at timestamptz NOT NULL
);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at);

-- Failed sign-ins by what is held back (an address, a source, both), per quarter of an hour. A crash may forget them.
CREATE UNLOGGED TABLE sign_in_failures (
  subject bytea NOT NULL CHECK (octet_length(subject) = 32),
  window_start timestamptz NOT NULL,
  failures integer NOT NULL CHECK (failures > 0),
  PRIMARY KEY (subject, window_start)
);

-- A person in a team; the spec's usr_ id. A row that was removed stays, because keys and the audit log name it.
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
CREATE UNIQUE INDEX members_one_per_account ON members (team_id, account_id) WHERE removed_at IS NULL;
CREATE INDEX members_account ON members (account_id) WHERE removed_at IS NULL;

-- A link that makes a member. Only the link of an owner, which the operator makes, may be bound to no address.
CREATE TABLE invitations (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  email text,
  email_key text CHECK (char_length(email_key) BETWEEN 3 AND 254),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  -- NULL where an API key or the operator made it.
  invited_by uuid,
  -- Mailed to its address, or made by the operator: whoever has it verifies the address by it. False where it was shown.
  proves_address boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  revoked_at timestamptz,
  CHECK (accepted_at IS NULL OR revoked_at IS NULL),
  CHECK ((email IS NULL) = (email_key IS NULL)),
  CHECK (email IS NOT NULL OR role = 'owner'),
  PRIMARY KEY (team_id, id),
  UNIQUE (id),
  FOREIGN KEY (team_id, invited_by) REFERENCES members (team_id, id)
);
-- One that has expired is revoked before another one is made.
CREATE UNIQUE INDEX invitations_one_open ON invitations (team_id, email_key)
  WHERE accepted_at IS NULL AND revoked_at IS NULL;

ALTER TABLE api_keys
  -- NULL where the operator made it.
  ADD COLUMN created_by uuid,
  -- Within some seconds.
  ADD COLUMN last_used_at timestamptz,
  ADD FOREIGN KEY (team_id, created_by) REFERENCES members (team_id, id);

-- Messages of a day in UTC: outbound ones accepted, less those given back, and inbound ones. A row each, so that what
-- comes in does not wait for what goes out.
CREATE TABLE usage_days (
  team_id uuid NOT NULL REFERENCES teams (id),
  day date NOT NULL,
  direction text NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  messages bigint NOT NULL CHECK (messages >= 0),
  PRIMARY KEY (team_id, day, direction)
) WITH (fillfactor = 50);
-- What was accepted and received before the upgrade, so that what is then given back was counted.
INSERT INTO usage_days (team_id, day, direction, messages)
SELECT team_id, (created_at AT TIME ZONE 'UTC')::date AS day, direction, count(*) FROM messages
WHERE NOT (error_code IS NOT NULL AND error_code IN ('expired', 'cancelled', 'number_removed') AND hand_outs = 0)
GROUP BY 1, 2, 3;

-- Owners and admins were told that the month's limit comes near, or was reached: once each.
CREATE TABLE usage_notices (
  team_id uuid NOT NULL REFERENCES teams (id),
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  percent smallint NOT NULL CHECK (percent IN (80, 100)),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, month, percent)
);

-- Who did what, when and from where; refusals too. Nothing is ever changed or taken out, but a month as a whole.
CREATE TABLE audit_log (
  id uuid NOT NULL,
  -- NULL for what concerns an account and no team.
  team_id uuid,
  -- The account that it concerns or that acted, where there is one.
  account_id uuid,
  actor_kind text NOT NULL CHECK (actor_kind IN ('key', 'member', 'account', 'operator', 'server')),
  actor_id text NOT NULL,
  actor_name text NOT NULL,
  action text NOT NULL,
  -- The public id of what it was done to; '' for the team itself.
  target text NOT NULL,
  details jsonb NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('done', 'refused')),
  error_code text,
  ip text NOT NULL,
  request_id text NOT NULL,
  created_at timestamptz NOT NULL,
  CHECK ((outcome = 'refused') = (error_code IS NOT NULL)),
  CHECK (team_id IS NOT NULL OR account_id IS NOT NULL)
) PARTITION BY RANGE (id);
CREATE UNIQUE INDEX audit_log_team ON audit_log (team_id, id);
CREATE INDEX audit_log_account ON audit_log (account_id, id);
CREATE TABLE audit_log_unplaced PARTITION OF audit_log DEFAULT;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END
$$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_not_emptied BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- PostgreSQL passes triggers of rows on to partitions and those of TRUNCATE not: each partition gets those that its history has.
CREATE FUNCTION guard_partitions(history text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  missing record;
BEGIN
  FOR missing IN
    SELECT t.tgname, t.tgfoid::regproc AS guard, i.inhrelid::regclass AS partition
    FROM pg_trigger t JOIN pg_inherits i ON i.inhparent = t.tgrelid
    WHERE t.tgrelid = history::regclass AND NOT t.tgisinternal AND t.tgtype & 32 <> 0
      AND NOT EXISTS (SELECT FROM pg_trigger own WHERE own.tgrelid = i.inhrelid AND own.tgname = t.tgname)
  LOOP
    EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s()',
      missing.tgname, missing.partition, missing.guard);
  END LOOP;
END
$$;
SELECT guard_partitions('audit_log');

ALTER FUNCTION make_partition(text, date, bigint) RENAME TO make_bare_partition;
CREATE FUNCTION make_partition(history text, month date, moved_max bigint) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
BEGIN
  PERFORM make_bare_partition(history, month, moved_max);
  PERFORM guard_partitions(history);
END
$$;

ALTER TABLE mails
  -- Past it the link in it opens nothing: not sent any more.
  ADD COLUMN useless_after timestamptz,
  -- The public id of what it speaks of and ends with, such as an invitation.
  ADD COLUMN reference text;
CREATE INDEX mails_open_reference ON mails (reference) WHERE body IS NOT NULL AND reference IS NOT NULL;
