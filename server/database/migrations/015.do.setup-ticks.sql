-- The lines of the setup page that a person has ticked (specification section 11.8): what the server can't see.
ALTER TABLE setup_tests
  ADD COLUMN hand_ticks text[] NOT NULL DEFAULT '{}';
