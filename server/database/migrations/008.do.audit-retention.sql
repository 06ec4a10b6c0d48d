-- Drops a month of a history, which ends its rows without a DELETE. Nothing refers to a history. The parent is locked too: the
-- time-out is short, because whoever reads or writes that history waits behind this lock.
CREATE FUNCTION drop_partition(history text, month date) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '300ms' AS $$
BEGIN
  EXECUTE format('DROP TABLE IF EXISTS %I', history || to_char(month, '_YYYY_MM'));
END
$$;
