-- How far a member has read in a conversation. Without a row: up to when they joined.
CREATE TABLE conversation_reads (
  team_id uuid NOT NULL,
  member_id uuid NOT NULL,
  phone_number text NOT NULL,
  contact text NOT NULL,
  -- A message of the conversation; never moves back.
  read_until uuid NOT NULL,
  PRIMARY KEY (team_id, member_id, phone_number, contact),
  FOREIGN KEY (team_id, member_id) REFERENCES members (team_id, id)
);
COMMENT ON TABLE conversation_reads IS
  'team; erased by handle; kept for RETENTION_DAYS; a person; in backups. How far a member has read in a conversation.';
