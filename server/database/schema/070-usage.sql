-- The usage of a month: accepted outbound messages minus refunded ones. The slice messages writes here and in
-- usage_days, in the statement that accepts a send.
CREATE TABLE usage_months (
  team_id uuid NOT NULL REFERENCES teams (id),
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  accepted bigint NOT NULL DEFAULT 0 CHECK (accepted >= 0),
  PRIMARY KEY (team_id, month)
);
COMMENT ON TABLE usage_months IS
  'team; not erased; kept until deleted; no person; in backups; also written by messages. Accepted messages of a month.';

-- Messages of a day in UTC: accepted outbound messages minus refunded ones, and inbound messages. Each direction has
-- its own row, so that neither waits for the other's row lock.
CREATE TABLE usage_days (
  team_id uuid NOT NULL REFERENCES teams (id),
  day date NOT NULL,
  direction text NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  messages bigint NOT NULL CHECK (messages >= 0),
  PRIMARY KEY (team_id, day, direction)
) WITH (fillfactor = 50);
COMMENT ON TABLE usage_days IS
  'team; not erased; kept until deleted; no person; in backups; also written by messages. Messages of a day by direction.';

-- Notices to owners and admins that the month's limit is near or reached; each notice is sent once.
CREATE TABLE usage_notices (
  team_id uuid NOT NULL REFERENCES teams (id),
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  percent smallint NOT NULL CHECK (percent IN (80, 100)),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, month, percent)
);
COMMENT ON TABLE usage_notices IS
  'team; not erased; kept until deleted; no person; in backups. Notices that a month''s limit is near or reached.';

-- Rate limiter: permits that processes took of a team's latest minute. A crash of PostgreSQL may empty the table; then
-- the count begins anew.
CREATE UNLOGGED TABLE rate_windows (
  team_id uuid PRIMARY KEY,
  -- Minutes since the epoch.
  minute bigint NOT NULL,
  taken bigint NOT NULL
);
COMMENT ON TABLE rate_windows IS
  'team; not erased; kept while needed; no person; not in backups. Permits that processes took of a team''s latest minute.';
