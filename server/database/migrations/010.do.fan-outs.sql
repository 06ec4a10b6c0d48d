-- Events for so many webhooks that their deliveries are written after the commit, part by part (decision 0023). The webhooks that matched
-- are recorded with the event, in the order of their deliveries.
CREATE TABLE fan_outs (
  team_id uuid NOT NULL,
  event_id uuid NOT NULL,
  event_type text NOT NULL,
  created_at timestamptz NOT NULL,
  webhook_ids uuid[] NOT NULL,
  are_active boolean[] NOT NULL,
  -- Of the webhooks so many are done.
  done integer NOT NULL DEFAULT 0 CHECK (done >= 0 AND done < cardinality(webhook_ids)),
  CHECK (cardinality(are_active) = cardinality(webhook_ids)),
  PRIMARY KEY (team_id, event_id)
);
-- Ids do not compress.
ALTER TABLE fan_outs ALTER webhook_ids SET STORAGE EXTERNAL;
