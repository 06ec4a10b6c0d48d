-- The same text to many new contacts (specification section 8): the audit log warns of it once an hour.
ALTER TABLE conversations
  -- Hash of the text that opened it; NULL where the contact did, or pacing was off.
  ADD COLUMN opening_text_hash bigint;

CREATE TABLE repeated_text_warnings (
  number_id uuid NOT NULL,
  text_hash bigint NOT NULL,
  warned_at timestamptz NOT NULL,
  PRIMARY KEY (number_id, text_hash)
);
