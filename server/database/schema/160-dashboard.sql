-- How far a member has read in a conversation. Without a row, messages from before the member joined count as read.
CREATE TABLE conversation_reads (
  team_id uuid NOT NULL,
  member_id uuid NOT NULL,
  phone_number text NOT NULL,
  contact text NOT NULL,
  -- The last read message of the conversation. It never moves back.
  read_until uuid NOT NULL,
  PRIMARY KEY (team_id, member_id, phone_number, contact),
  FOREIGN KEY (team_id, member_id) REFERENCES members (team_id, id)
);
COMMENT ON TABLE conversation_reads IS
  'team; erased by handle; kept for RETENTION_DAYS; a person; in backups. How far a member has read in a conversation.';
