-- Events that were erased, and whose answers are erased next, in batches (specification section 12.14).
CREATE TABLE erased_events (
  team_id uuid NOT NULL REFERENCES teams (id),
  event_id uuid NOT NULL,
  PRIMARY KEY (team_id, event_id)
);
-- The event was erased, and the answers to it: no further one is stored. An attempt that was in progress then may bring one.
ALTER TABLE deliveries ADD COLUMN is_erased boolean NOT NULL DEFAULT false;
