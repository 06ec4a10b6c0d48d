-- Pacing (specification section 8, decision 0026).

-- What a number sets itself, as PUT /v1/numbers/:id takes it; NULL and fields left out are the defaults of PACING.
ALTER TABLE numbers ADD COLUMN pacing jsonb CHECK (jsonb_typeof(pacing) = 'object');

-- How many hand-outs the number has had while it was paced, without those that were released.
ALTER TABLE device_sessions ADD COLUMN hand_out_total bigint NOT NULL DEFAULT 0;

-- The hand-outs of paced numbers of the last day, numbered per number: a window of any size is judged by one row, the one that is as many
-- hand-outs back as the window allows. Not a history: purged after a day.
CREATE TABLE recent_hand_outs (
  number_id uuid NOT NULL,
  -- device_sessions.hand_out_total after it.
  ordinal bigint NOT NULL,
  message_id uuid NOT NULL,
  hand_out smallint NOT NULL,
  contact text NOT NULL,
  handed_out_at timestamptz NOT NULL,
  PRIMARY KEY (number_id, ordinal)
);

-- One row for each number and contact that have written to each other.
CREATE TABLE conversations (
  team_id uuid NOT NULL,
  number_id uuid NOT NULL,
  contact text NOT NULL,
  opened_by text NOT NULL CHECK (opened_by IN ('team', 'contact')),
  -- Its first hand-out or inbound message.
  opened_at timestamptz NOT NULL,
  last_inbound_at timestamptz,
  -- Hand-outs since the contact last wrote.
  unanswered_count integer NOT NULL DEFAULT 0 CHECK (unanswered_count >= 0),
  PRIMARY KEY (number_id, contact),
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id),
  CONSTRAINT contact_opens_by_writing CHECK (opened_by = 'team' OR last_inbound_at IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX conversations_opened ON conversations (number_id, opened_at) WHERE opened_by = 'team';

-- Conversations of before. A hand-out that counts has a row in hand_outs.
INSERT INTO conversations (team_id, number_id, contact, opened_by, opened_at, last_inbound_at, unanswered_count)
SELECT team_id, number_id, contact, CASE WHEN min(received_at) <= min(handed_out_at) OR min(handed_out_at) IS NULL THEN 'contact' ELSE 'team' END,
  least(min(handed_out_at), min(received_at)), max(received_at), count(*) FILTER (WHERE handed_out_at > coalesce(last_received_at, '-infinity'))
FROM (
  SELECT w.*, max(received_at) OVER (PARTITION BY number_id, contact) AS last_received_at FROM (
    SELECT team_id, number_id, from_handle AS contact, created_at AS received_at, NULL::timestamptz AS handed_out_at
    FROM messages WHERE direction = 'inbound'
    UNION ALL
    SELECT m.team_id, m.number_id, m.to_handle, NULL, h.handed_out_at
    FROM messages m JOIN hand_outs h ON h.message_id = m.id
  ) w
) written GROUP BY team_id, number_id, contact;

-- Hand-outs of before: those of the last day before the latest one.
INSERT INTO recent_hand_outs (number_id, ordinal, message_id, hand_out, contact, handed_out_at)
SELECT h.number_id, row_number() OVER (PARTITION BY h.number_id ORDER BY h.handed_out_at, h.message_id, h.hand_out), h.message_id, h.hand_out,
  m.to_handle, h.handed_out_at
FROM hand_outs h JOIN messages m ON m.team_id = h.team_id AND m.id = h.message_id
WHERE h.handed_out_at > (SELECT max(handed_out_at) FROM hand_outs) - interval '1 day';
UPDATE device_sessions s SET hand_out_total = (SELECT count(*) FROM recent_hand_outs r WHERE r.number_id = s.number_id);
