-- Growth of deliveries, attempts and hand-outs (decision 0036).

-- Columns that repeat what another row has, and that no statement reads. This release writes them no more; processes of the previous
-- one still do, beside it. A later migration drops them.
ALTER TABLE hand_outs ALTER number_id DROP NOT NULL;
ALTER TABLE attempts ALTER webhook_id DROP NOT NULL;

-- Months made from now on leave a fifth of each page of deliveries free, in place of a half. Pages that are written stay as they are.
DO $$
DECLARE
  month regclass;
BEGIN
  FOR month IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'deliveries'::regclass LOOP
    EXECUTE format('ALTER TABLE %s SET (fillfactor = 80)', month);
  END LOOP;
END
$$;

-- As before; a month has the storage parameters of the default partition.
CREATE OR REPLACE FUNCTION make_partition(history text, month date, moved_max bigint) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
  partition text := history || to_char(month, '_YYYY_MM');
  default_partition text := history || '_default';
  first_id uuid := first_id_at(month::timestamp AT TIME ZONE 'UTC');
  next_id uuid := first_id_at((month + interval '1 month')::timestamp AT TIME ZONE 'UTC');
  of_month text := format('%1$I >= %2$L AND %1$I < %3$L',
    CASE WHEN history IN ('hand_outs', 'media', 'media_chunks') THEN 'message_id' ELSE 'id' END, first_id, next_id);
  found bigint;
  options text;
BEGIN
  IF to_regclass(partition) IS NOT NULL THEN
    RETURN;
  END IF;
  -- In the order of every writer: the tables that the history refers to, then the history itself. One maker at a time has the
  -- first locks. Writers wait at the history, before the partition of their row is chosen: at the partition it would be too late.
  LOCK TABLE teams, numbers IN SHARE ROW EXCLUSIVE MODE;
  IF to_regclass(partition) IS NOT NULL THEN
    RETURN;
  END IF;
  EXECUTE format('SELECT count(*) FROM (SELECT FROM %I WHERE %s LIMIT %s) AS few', default_partition, of_month, moved_max + 1)
    INTO found;
  IF found > moved_max THEN
    RAISE EXCEPTION '% holds more than % rows of the month %. At a quiet time, this moves them all: SELECT make_partition(%, %, 1000000000)',
      default_partition, moved_max, month, quote_literal(history), quote_literal(month);
  END IF;
  EXECUTE format('LOCK TABLE ONLY %I, %I IN ACCESS EXCLUSIVE MODE', history, default_partition);
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', partition, history);
  SELECT array_to_string(reloptions, ', ') INTO options FROM pg_class WHERE oid = default_partition::regclass;
  IF options <> '' THEN
    EXECUTE format('ALTER TABLE %I SET (%s)', partition, options);
  END IF;
  -- Triggers guard rows against being changed, not against being moved.
  EXECUTE format('ALTER TABLE %I DISABLE TRIGGER USER', default_partition);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %s RETURNING *) INSERT INTO %I SELECT * FROM moved',
    default_partition, of_month, partition);
  EXECUTE format('ALTER TABLE %I ENABLE TRIGGER USER', default_partition);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', history, partition, first_id, next_id);
  PERFORM guard_partitions(history);
END
$$;
