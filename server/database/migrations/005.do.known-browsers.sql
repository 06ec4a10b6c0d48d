-- Browsers that are known again (specification section 12.2), and the second submit of the button that accepts an invitation.

ALTER TABLE accounts
  -- Browsers that signed in before that are not known any more; NULL where none was forgotten.
  ADD COLUMN browsers_known_since timestamptz;

ALTER TABLE invitations
  -- Of the form that accepted it, and who came in by that: a second submit of its button lets in as well.
  ADD COLUMN press_hash bytea CHECK (octet_length(press_hash) = 32),
  ADD COLUMN pressed_by uuid REFERENCES accounts (id),
  ADD CHECK ((press_hash IS NULL) = (pressed_by IS NULL));
