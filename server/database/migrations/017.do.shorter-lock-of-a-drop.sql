-- Dropping a month of a history (specification section 10.9): sends wait for 50 ms at most behind its lock. It was 300 ms. The drop is
-- tried again each minute.
CREATE OR REPLACE FUNCTION drop_partition(history text, month date) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '50ms' AS $$
BEGIN
  EXECUTE format('DROP TABLE IF EXISTS %I', history || to_char(month, '_YYYY_MM'));
END
$$;
