-- Whether a received message went to several recipients (specification section 2.6).
ALTER TABLE messages
  ADD COLUMN is_group boolean NOT NULL DEFAULT false;
