-- Rows that are changed soon after they were written keep room beside them: the change stays on their page and needs no new
-- entry in any index. A due delivery is claimed once, a delivery gets its end once; without the room both took a third of the
-- database's time for a delivery (decision 0017).
ALTER TABLE due_deliveries SET (fillfactor = 50);

CREATE FUNCTION leave_room(history text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  partition regclass;
BEGIN
  FOR partition IN
    SELECT c.oid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = history::regclass AND NOT coalesce(c.reloptions::text LIKE '%fillfactor=%', false)
  LOOP
    EXECUTE format('ALTER TABLE %s SET (fillfactor = 50)', partition);
  END LOOP;
END
$$;
SELECT leave_room('deliveries');

CREATE OR REPLACE FUNCTION make_partition(history text, month date, moved_max bigint) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
BEGIN
  PERFORM make_bare_partition(history, month, moved_max);
  PERFORM guard_partitions(history);
  IF history = 'deliveries' THEN
    PERFORM leave_room(history);
  END IF;
END
$$;

-- One index for each lane, which claims read in their order. One for all of them had the webhook first, as the primary key has: a
-- plan that was made while the queue was empty looked for single deliveries in it, through all that wait for the webhook.
DROP INDEX due_deliveries_order;
CREATE INDEX due_deliveries_live ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'live';
CREATE INDEX due_deliveries_retry ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'retry';
CREATE INDEX due_deliveries_replay ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'replay';
CREATE INDEX due_deliveries_single ON due_deliveries (webhook_id, due_at, seq) WHERE lane = 'single';
