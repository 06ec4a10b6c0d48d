-- The demo team (specification section 10.12): made-up data, which `ownline demo --remove` deletes with all its rows.
CREATE TABLE demo_team (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  team_id uuid NOT NULL UNIQUE REFERENCES teams (id)
);

-- Audit entries of the demo team may be deleted, and so may those of its accounts without a team. All others stay append-only.
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT FROM demo_team WHERE team_id = OLD.team_id)
      OR (OLD.team_id IS NULL AND EXISTS (
        SELECT FROM accounts WHERE id = OLD.account_id AND normalized_email LIKE '%@demo.example.com')) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END
$$;
