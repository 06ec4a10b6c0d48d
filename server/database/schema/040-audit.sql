-- Actions and refusals: by whom, when and from where. Rows are never changed.
CREATE TABLE audit_log (
  id uuid NOT NULL,
  -- NULL for an action that concerns an account but no team.
  team_id uuid,
  -- The account that acted or that the action concerns, if there is one.
  account_id uuid,
  actor_kind text NOT NULL CHECK (actor_kind IN ('key', 'member', 'account', 'operator', 'server')),
  actor_id text NOT NULL,
  actor_name text NOT NULL,
  action text NOT NULL,
  -- The public id of the action's object; '' for the team itself.
  target text NOT NULL,
  details jsonb NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('done', 'refused')),
  error_code text,
  ip text NOT NULL,
  request_id text NOT NULL,
  created_at timestamptz NOT NULL,
  CHECK ((outcome = 'refused') = (error_code IS NOT NULL)),
  CHECK (team_id IS NOT NULL OR account_id IS NOT NULL)
);
COMMENT ON TABLE audit_log IS
  'team; not erased; kept for AUDIT_DAYS; a person; in backups. Actions and refusals: by whom, when and from where.';
CREATE UNIQUE INDEX audit_log_team ON audit_log (team_id, id);
CREATE INDEX audit_log_account ON audit_log (account_id, id);
-- Changes of the team by API keys, which Home shows for 7 days.
CREATE INDEX audit_log_of_home ON audit_log (team_id, id)
  WHERE outcome = 'done' AND actor_kind = 'key' AND action IN (
    'invitation.made', 'invitation.sent_again', 'member.role_changed', 'member.removed', 'team.renamed');

-- An entry may be deleted if its id is below the one that the purge sets for its transaction. Entries of the demo team
-- may be deleted, too, and those of the demo's accounts without a team. All others stay.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.id < nullif(current_setting('ownline.audit_purged_before', true), '')::uuid
      OR EXISTS (SELECT FROM demo_team WHERE team_id = OLD.team_id)
      OR (OLD.team_id IS NULL AND EXISTS (
        SELECT FROM accounts WHERE id = OLD.account_id AND normalized_email LIKE '%@demo.example.com')) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'check_violation';
END
$$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_not_emptied BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
