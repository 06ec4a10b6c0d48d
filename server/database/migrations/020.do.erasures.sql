-- Erasure of contacts (specification section 12.14).

-- Erasures that are not finished: the only rows that hold the contact meanwhile. A process that dies leaves its erasure to the next one.
CREATE TABLE erasures (
  team_id uuid NOT NULL REFERENCES teams (id),
  -- The normalized handle.
  contact text NOT NULL CHECK (char_length(contact) BETWEEN 1 AND 320),
  -- Spellings of the contact in messages, itself included.
  handles text[] NOT NULL,
  -- Messages with greater ids came later, and stay.
  until_id uuid NOT NULL,
  -- Events of the contact: how many were written, as far as its opt-out counts them.
  contact_events integer NOT NULL CHECK (contact_events >= 0),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, contact)
);

-- Opt-outs of contacts that were erased. The hash is an HMAC with a key that is derived from SECRETS_KEY, so that the row names the
-- contact to none but a server that is given the contact again.
CREATE TABLE erased_opt_outs (
  team_id uuid NOT NULL REFERENCES teams (id),
  contact_hash bytea NOT NULL CHECK (octet_length(contact_hash) = 32),
  -- As in opt_outs.
  id uuid NOT NULL,
  sequence integer NOT NULL CHECK (sequence > 0),
  opted_out_at timestamptz NOT NULL,
  message_id uuid,
  phone_number text,
  request_id text,
  PRIMARY KEY (team_id, contact_hash)
);

-- Sends of a team without such a row do not look for one. It is never cleared.
ALTER TABLE teams ADD COLUMN has_erased_opt_outs boolean NOT NULL DEFAULT false;
