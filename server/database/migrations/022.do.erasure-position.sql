-- The walk of an erasure over the events of its contact goes on at this event, downwards; NULL at its beginning (specification section 12.14).
ALTER TABLE erasures ADD COLUMN events_before uuid;
