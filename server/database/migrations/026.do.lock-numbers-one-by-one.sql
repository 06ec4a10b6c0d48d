-- Reads each number by its id. A plan of id = ANY that was made while the table was empty read the numbers of all teams.
CREATE OR REPLACE FUNCTION lock_active_numbers(ids uuid[], waits boolean) RETURNS TABLE (id uuid, team_id uuid, pacing jsonb)
LANGUAGE plpgsql ROWS 10 AS $$
BEGIN
  IF waits THEN
    RETURN QUERY SELECT l.id, l.team_id, l.pacing FROM (SELECT u.id FROM unnest(ids) AS u (id) ORDER BY u.id) i
      CROSS JOIN LATERAL (
        SELECT n.id, n.team_id, n.pacing FROM numbers n
        WHERE n.id = i.id AND n.status = 'active' AND n.deleted_at IS NULL FOR SHARE
      ) l;
  ELSE
    RETURN QUERY SELECT l.id, l.team_id, l.pacing FROM (SELECT u.id FROM unnest(ids) AS u (id) ORDER BY u.id) i
      CROSS JOIN LATERAL (
        SELECT n.id, n.team_id, n.pacing FROM numbers n
        WHERE n.id = i.id AND n.status = 'active' AND n.deleted_at IS NULL FOR SHARE SKIP LOCKED
      ) l;
  END IF;
END
$$;
