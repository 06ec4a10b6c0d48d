-- A person who signs in, identified by an e-mail address. An account is created only by a link that was sent to the
-- address or made by the operator.
CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  -- The address in the form that is compared; no two accounts have the same.
  normalized_email text NOT NULL UNIQUE CHECK (char_length(normalized_email) BETWEEN 3 AND 254),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  -- argon2id hash in the PHC form. An account without a password signs in by magic link or passkey.
  password_hash text,
  -- When the address was verified, by a link that was mailed to it or made by the operator. While NULL, another person
  -- who saw the invitation's link may have created the account.
  email_verified_at timestamptz,
  created_at timestamptz NOT NULL,
  -- Device cookies that were set earlier are not accepted; NULL: all are.
  device_cookies_valid_from timestamptz
);
COMMENT ON TABLE accounts IS
  'account; not erased; kept until deleted; a person; in backups. A person who signs in, by an e-mail address.';

-- The sessions of browsers. Signing out deletes the row.
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
COMMENT ON TABLE account_sessions IS
  'account; not erased; kept while needed; a person; in backups. Sessions of browsers.';
CREATE INDEX account_sessions_account ON account_sessions (account_id);
CREATE INDEX account_sessions_expiry ON account_sessions (expires_at);

-- A magic link is used once, by UPDATE … RETURNING.
CREATE TABLE magic_links (
  id uuid PRIMARY KEY,
  account_id uuid NOT NULL REFERENCES accounts (id),
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
COMMENT ON TABLE magic_links IS
  'account; not erased; kept while needed; a person; in backups. Links that sign in once.';
CREATE INDEX magic_links_account ON magic_links (account_id);
CREATE INDEX magic_links_expiry ON magic_links (expires_at);

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
COMMENT ON TABLE passkeys IS
  'account; not erased; kept until deleted; a person; in backups. Passkeys of accounts.';
CREATE INDEX passkeys_account ON passkeys (account_id);

-- A challenge that a passkey signs; it is used once, by DELETE … RETURNING. A challenge without an account is for
-- signing in.
CREATE TABLE passkey_challenges (
  challenge_hash bytea PRIMARY KEY CHECK (octet_length(challenge_hash) = 32),
  account_id uuid REFERENCES accounts (id),
  expires_at timestamptz NOT NULL
);
COMMENT ON TABLE passkey_challenges IS
  'account; not erased; kept while needed; no person; in backups. Challenges that a passkey signs once.';
CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at);

-- Counters of throttles, one per subject (an address, a client network, or both) and window. They count failed
-- passwords, magic links and invitation mails. A crash of PostgreSQL may empty the table.
CREATE UNLOGGED TABLE throttle_counters (
  subject bytea NOT NULL CHECK (octet_length(subject) = 32),
  window_start timestamptz NOT NULL,
  hits integer NOT NULL CHECK (hits > 0),
  PRIMARY KEY (subject, window_start)
);
COMMENT ON TABLE throttle_counters IS
  'installation; not erased; kept while needed; a person; not in backups. Counts of attempts by the hash of an address or network.';
