/**
 * SQL: both values of `send_queue.is_ready`. Through LATERAL, a query reads each part of a queue in the order of its
 * index.
 */
export const sqlReadyAndHeld = '(VALUES (true), (false)) h (is_ready)';
