-- The text that a lock test sends (specification section 11.8): its recipient until it is accepted, then the message, or
-- why it was refused.
ALTER TABLE setup_tests
  ADD COLUMN lock_text_to text,
  ADD COLUMN lock_message_id uuid,
  ADD COLUMN lock_text_refusal text;

CREATE INDEX setup_tests_lock_texts ON setup_tests (lock_started_at) WHERE lock_text_to IS NOT NULL;
