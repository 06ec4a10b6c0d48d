-- Locks of statements that also look up rows of monthly histories (decision 0040). A function runs its SELECT in an execution of its
-- own, so that the lock's second look at a row does not touch the statement's plan. Its snapshot is newer than the statement's.
-- `waits` is false for SKIP LOCKED.

-- Locks webhooks only to block disabling and the counting of failures.
CREATE FUNCTION lock_webhooks(ids uuid[]) RETURNS TABLE (id uuid, generation integer, failure_count smallint)
LANGUAGE plpgsql ROWS 10 AS $$
BEGIN
  RETURN QUERY SELECT w.id, w.generation, w.failure_count FROM webhooks w WHERE w.id = ANY (ids) ORDER BY w.id FOR KEY SHARE;
END
$$;

CREATE FUNCTION lock_active_numbers(ids uuid[], waits boolean) RETURNS TABLE (id uuid, team_id uuid, pacing jsonb)
LANGUAGE plpgsql ROWS 10 AS $$
BEGIN
  IF waits THEN
    RETURN QUERY SELECT n.id, n.team_id, n.pacing FROM numbers n
      WHERE n.id = ANY (ids) AND n.status = 'active' AND n.deleted_at IS NULL ORDER BY n.id FOR SHARE;
  ELSE
    RETURN QUERY SELECT n.id, n.team_id, n.pacing FROM numbers n
      WHERE n.id = ANY (ids) AND n.status = 'active' AND n.deleted_at IS NULL ORDER BY n.id FOR SHARE SKIP LOCKED;
  END IF;
END
$$;

CREATE FUNCTION lock_sessions(numbers uuid[], waits boolean)
RETURNS TABLE (number_id uuid, device_id uuid, session_id uuid, poll_sequence bigint, requeue_count bigint, hand_out_total bigint)
LANGUAGE plpgsql ROWS 10 AS $$
BEGIN
  IF waits THEN
    RETURN QUERY SELECT s.number_id, s.device_id, s.session_id, s.poll_sequence, s.requeue_count, s.hand_out_total
      FROM device_sessions s WHERE s.number_id = ANY (numbers) ORDER BY s.number_id FOR UPDATE;
  ELSE
    RETURN QUERY SELECT s.number_id, s.device_id, s.session_id, s.poll_sequence, s.requeue_count, s.hand_out_total
      FROM device_sessions s WHERE s.number_id = ANY (numbers) ORDER BY s.number_id FOR UPDATE SKIP LOCKED;
  END IF;
END
$$;

-- A row that was removed or moved meanwhile is missing, or has another place or message.
CREATE FUNCTION lock_queued(places tid[], waits boolean) RETURNS TABLE (place tid, message_id uuid) LANGUAGE plpgsql ROWS 10 AS $$
BEGIN
  IF waits THEN
    RETURN QUERY SELECT q.ctid, q.message_id FROM send_queue q WHERE q.ctid = ANY (places) FOR UPDATE;
  ELSE
    RETURN QUERY SELECT q.ctid, q.message_id FROM send_queue q WHERE q.ctid = ANY (places) FOR UPDATE SKIP LOCKED;
  END IF;
END
$$;
