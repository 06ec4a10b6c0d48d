-- The newest position of each team's feed that has lost its event. A reader whose position is lower may have missed an
-- event. `event_id` is null for a position that a restore set aside: its events are unknown.
CREATE TABLE feed_removals (
  team_id uuid PRIMARY KEY,
  position bigint NOT NULL,
  event_id uuid
);
