-- The heads of a queue: the oldest message to each contact (specification section 3.3).
CREATE INDEX send_queue_heads ON send_queue (number_id, to_handle, seq);
