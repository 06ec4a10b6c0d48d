-- Conversations of the dashboard: a phone number of the team and a contact.

-- The defaults are of processes of the version before, until the next message of the conversation.
ALTER TABLE conversations
  -- The newest hand-out or inbound message.
  ADD COLUMN last_activity_at timestamptz NOT NULL DEFAULT to_timestamp(0),
  -- The greatest id of the messages that were handed out or received.
  ADD COLUMN last_message_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  ADD COLUMN last_inbound_id uuid,
  -- Spellings of the contact in messages that differ from it.
  ADD COLUMN handles text[] NOT NULL DEFAULT '{}' CHECK (cardinality(handles) <= 16);

-- Migration 007 kept contacts as they were spelled. A mail address is compared in lower case: of its spellings one row stays.
DELETE FROM conversations c WHERE c.contact LIKE '%@%' AND c.contact <> lower(c.contact) AND EXISTS (
  SELECT FROM conversations o WHERE o.number_id = c.number_id AND lower(o.contact) = lower(c.contact)
    AND (o.contact = lower(o.contact) OR o.contact COLLATE "C" > c.contact COLLATE "C"));
UPDATE conversations SET contact = lower(contact) WHERE contact LIKE '%@%' AND contact <> lower(contact);

-- Conversations of before. The normalized form of phone numbers is not known to SQL: messages with another spelling are found with
-- the next message that has it.
UPDATE conversations SET last_activity_at = greatest(opened_at, last_inbound_at);
UPDATE conversations c SET last_activity_at = greatest(c.last_activity_at, f.last_at), last_message_id = f.last_id,
  last_inbound_id = f.last_inbound_id, handles = coalesce(f.handles, '{}')
FROM (
  SELECT w.number_id, k.contact, max(w.at) AS last_at, max(w.id COLLATE "C")::uuid AS last_id,
    max(w.id COLLATE "C") FILTER (WHERE w.direction = 'inbound')::uuid AS last_inbound_id,
    (array_agg(DISTINCT w.handle) FILTER (WHERE w.handle <> k.contact))[1:16] AS handles
  FROM (
    SELECT m.number_id, m.id::text AS id, m.direction, CASE m.direction WHEN 'inbound' THEN m.from_handle ELSE m.to_handle END AS handle,
      coalesce(h.handed_out_at, m.created_at) AS at
    FROM messages m LEFT JOIN hand_outs h ON h.message_id = m.id
    WHERE m.direction = 'inbound' OR m.hand_out_count > 0
  ) w
  CROSS JOIN LATERAL (
    SELECT w.handle AS contact UNION SELECT lower(w.handle) WHERE w.handle LIKE '%@%'
  ) k
  GROUP BY w.number_id, k.contact
) f WHERE c.number_id = f.number_id AND c.contact = f.contact;

-- The dashboard's list: the latest activity first, across the numbers of a team. The id decides between equal times.
CREATE INDEX conversations_activity ON conversations (team_id, last_activity_at, last_message_id);
-- A number that was deleted and connected again has several rows; the one with the greatest id is the latest.
CREATE INDEX numbers_of_phone ON numbers (team_id, phone_number, id);

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
