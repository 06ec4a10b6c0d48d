-- Timelines of messages (specification section 12.8).

-- The key or member that sent it; NULL for inbound ones, test texts of the setup page and messages of before. No foreign key: it is
-- one of two tables, and neither deletes rows.
ALTER TABLE messages ADD COLUMN sent_by uuid;

-- The events of a message. Sends write none.
CREATE INDEX events_of_message ON events (team_id, message_id) WHERE message_id IS NOT NULL;
