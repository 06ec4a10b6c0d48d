-- Choices, ticks and tests of a person on the setup page: one row per setup link, created with the first of them.
CREATE TABLE setup_tests (
  team_id uuid NOT NULL,
  setup_link_id uuid NOT NULL,
  -- The form of shortcut files: for iOS 27 and newer, or for iOS 17 to 26.
  form smallint CHECK (form IN (26, 27)),
  -- Names of the steps that a person has ticked, because the server can't see whether they are done.
  ticks text[] NOT NULL DEFAULT '{}',
  -- The messages of accepted test texts, in order, and how many test texts were begun.
  message_ids uuid[] NOT NULL DEFAULT '{}',
  text_count smallint NOT NULL DEFAULT 0,
  -- When the person locked the phone, and the phone's session and number of polls at that time.
  lock_started_at timestamptz,
  lock_session_id uuid,
  lock_poll_sequence bigint,
  lock_passed_at timestamptz,
  -- When the recipient of the text of an earlier lock test replied while the phone was locked.
  lock_reply_at timestamptz,
  -- The text that a lock test sends: its recipient until it is accepted, then the message, or why it was refused.
  lock_text_to text,
  lock_message_id uuid,
  lock_text_refusal text,
  -- The recipient of each counted test text, so that simultaneous test texts can't go to more recipients than one link
  -- allows.
  text_recipients text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (team_id, setup_link_id),
  FOREIGN KEY (team_id, setup_link_id) REFERENCES setup_links (team_id, id) ON DELETE CASCADE
);
COMMENT ON TABLE setup_tests IS
  'team; not erased; kept while needed; a person; in backups. Choices, ticks and tests of a person on a setup page.';
CREATE INDEX setup_tests_lock_texts ON setup_tests (lock_started_at) WHERE lock_text_to IS NOT NULL;
