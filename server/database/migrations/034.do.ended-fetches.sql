-- Tries that ended in a failure. A claim whose process died is counted by `tries` alone, which identifies the claim.
ALTER TABLE media_fetches ADD COLUMN failed_tries smallint NOT NULL DEFAULT 0 CHECK (failed_tries >= 0);
