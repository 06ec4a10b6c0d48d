-- When an erasure of a contact last ended: tables are analyzed after it (specification section 12.14). NULL before the first one.
ALTER TABLE instance ADD COLUMN last_erased_at timestamptz;

-- ANALYZE keeps the statistics of a table without rows, and these are often empty. So their handles get none.
ALTER TABLE send_queue ALTER to_handle SET STATISTICS 0;
ALTER TABLE recent_hand_outs ALTER contact SET STATISTICS 0;
ALTER TABLE erasures ALTER contact SET STATISTICS 0, ALTER handles SET STATISTICS 0;
