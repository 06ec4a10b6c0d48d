-- Media of outbound messages that are not fetched yet: a queue of its own (specification section 3.2).
CREATE TABLE media_fetches (
  team_id uuid NOT NULL,
  message_id uuid NOT NULL,
  url text NOT NULL CHECK (char_length(url) BETWEEN 1 AND 2048),
  -- Scheme, host and port: the slots of a team are shared out by it.
  origin text NOT NULL CHECK (char_length(origin) <= 300),
  -- Tries that were begun; a claim of a process is known by it.
  tries smallint NOT NULL DEFAULT 0 CHECK (tries >= 0),
  -- When it may be tried next. Of a try in progress the end of its lease: past it the process counts as dead.
  due_at timestamptz NOT NULL,
  PRIMARY KEY (team_id, message_id)
);
CREATE INDEX media_fetches_lane ON media_fetches (team_id, origin, due_at);

-- Why the media of a failed message could not be fetched: timeout, http_404 and the like.
ALTER TABLE messages ADD COLUMN media_failure text CHECK (media_failure IS NULL OR error_code LIKE 'media_%');

-- The index of the heads (migration 004) finds these rows as well.
DROP INDEX send_queue_waits_for_media;
