-- Tests of a phone on the setup page (specification section 11.8): each kind of received text that this phone passed on.
ALTER TABLE devices
  ADD COLUMN received_tests text[] NOT NULL DEFAULT '{}';

-- Tests that a person started on the setup page; a row per link, made with the first of them.
CREATE TABLE setup_tests (
  team_id uuid NOT NULL,
  setup_link_id uuid NOT NULL,
  -- Test texts that were accepted, in their order, and how many were begun.
  message_ids uuid[] NOT NULL DEFAULT '{}',
  text_count smallint NOT NULL DEFAULT 0,
  -- The session of the phone and its number of polls when the person locked the phone.
  lock_started_at timestamptz,
  lock_session_id uuid,
  lock_poll_sequence bigint,
  lock_passed_at timestamptz,
  PRIMARY KEY (team_id, setup_link_id),
  FOREIGN KEY (team_id, setup_link_id) REFERENCES setup_links (team_id, id) ON DELETE CASCADE
);
