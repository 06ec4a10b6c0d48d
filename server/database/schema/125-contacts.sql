-- Contacts: people that a team knows by name, with their handles (specification section 4.8).
CREATE TABLE contacts (
  team_id uuid NOT NULL REFERENCES teams (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  note text NOT NULL DEFAULT '' CHECK (char_length(note) <= 2000),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, id)
);
COMMENT ON TABLE contacts IS
  'team; erased by handle; kept until deleted; a person; in backups. People with a name.';

CREATE TABLE contact_handles (
  team_id uuid NOT NULL,
  -- The normalized handle: a phone number in E.164, or a mail address in lower case.
  handle text NOT NULL CHECK (char_length(handle) BETWEEN 1 AND 320),
  contact_id uuid NOT NULL,
  -- The place among the handles of the contact, from 0.
  position smallint NOT NULL CHECK (position BETWEEN 0 AND 9),
  PRIMARY KEY (team_id, handle),
  UNIQUE (team_id, contact_id, position),
  FOREIGN KEY (team_id, contact_id) REFERENCES contacts (team_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE contact_handles IS
  'team; erased by handle; kept until deleted; a person; in backups. The handles of contacts: each belongs to one.';

-- The search index of contacts. A row is a word of the name, without accents and in lower case, or "#" and the digits of
-- a phone number from the last to the first. So both are found by their beginnings.
CREATE TABLE contact_words (
  team_id uuid NOT NULL,
  word text COLLATE "C" NOT NULL,
  contact_id uuid NOT NULL,
  PRIMARY KEY (team_id, word, contact_id),
  UNIQUE (team_id, contact_id, word),
  FOREIGN KEY (team_id, contact_id) REFERENCES contacts (team_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE contact_words IS
  'team; erased by handle; kept until deleted; a person; in backups. Words and digits by which contacts are found.';
