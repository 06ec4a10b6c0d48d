-- The recipient of each counted test text of a setup link (specification section 11.8), so that two simultaneous ones
-- can't go to more numbers than one link may write to.
ALTER TABLE setup_tests
  ADD COLUMN text_recipients text[] NOT NULL DEFAULT '{}';
