-- Media: the file of a message, in chunks (decision 0025). Both tables are histories, partitioned by the month in the id of
-- the message, so that a file goes with its message. A file is written in several transactions, and is complete with the last one.
CREATE SEQUENCE media_file_id AS bigint;
CREATE TABLE media (
  message_id uuid NOT NULL,
  -- Each try to write a file has an id of its own: what an interrupted one left is never taken for another's.
  file_id bigint NOT NULL DEFAULT nextval('media_file_id'),
  team_id uuid NOT NULL REFERENCES teams (id),
  -- Name with the extension of its type, in characters that need no escape in a path.
  name text NOT NULL CHECK (name ~ '^[A-Za-z0-9._-]{1,100}$'),
  -- The media type of its bytes, whatever its sender said.
  type text NOT NULL,
  created_at timestamptz NOT NULL,
  is_complete boolean NOT NULL DEFAULT false,
  size_bytes integer CHECK (size_bytes BETWEEN 1 AND 5242880),
  sha256 bytea CHECK (octet_length(sha256) = 32),
  PRIMARY KEY (message_id, file_id),
  CONSTRAINT complete_has_size CHECK (is_complete = (size_bytes IS NOT NULL) AND is_complete = (sha256 IS NOT NULL))
) PARTITION BY RANGE (message_id);
CREATE UNIQUE INDEX media_one_complete ON media (message_id) WHERE is_complete;
CREATE INDEX media_incomplete ON media (created_at) WHERE NOT is_complete;

CREATE TABLE media_chunks (
  message_id uuid NOT NULL,
  file_id bigint NOT NULL,
  position smallint NOT NULL CHECK (position >= 0),
  data bytea NOT NULL CHECK (octet_length(data) BETWEEN 1 AND 262144),
  PRIMARY KEY (message_id, file_id, position)
) PARTITION BY RANGE (message_id);
-- Pictures, videos and sounds are compressed already.
ALTER TABLE media_chunks ALTER data SET STORAGE EXTERNAL;

CREATE TABLE media_default PARTITION OF media DEFAULT;
CREATE TABLE media_chunks_default PARTITION OF media_chunks DEFAULT;

-- A message whose media are not stored yet is not handed out, nor are later ones of its conversation.
ALTER TABLE send_queue ADD COLUMN waits_for_media boolean NOT NULL DEFAULT false;
CREATE INDEX send_queue_waits_for_media ON send_queue (number_id, to_handle, seq) WHERE waits_for_media;

-- As before, with two more histories whose key is message_id, and with the storage of their columns.
CREATE OR REPLACE FUNCTION make_partition(history text, month date, moved_max bigint) RETURNS void
LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
DECLARE
  partition text := history || to_char(month, '_YYYY_MM');
  default_partition text := history || '_default';
  first_id uuid := first_id_at(month::timestamp AT TIME ZONE 'UTC');
  next_id uuid := first_id_at((month + interval '1 month')::timestamp AT TIME ZONE 'UTC');
  of_month text := format('%1$I >= %2$L AND %1$I < %3$L',
    CASE WHEN history IN ('hand_outs', 'media', 'media_chunks') THEN 'message_id' ELSE 'id' END, first_id, next_id);
  found bigint;
BEGIN
  IF to_regclass(partition) IS NOT NULL THEN
    RETURN;
  END IF;
  -- In the order of every writer: the tables that the history refers to, then the history itself. One maker at a time has the
  -- first locks. Writers wait at the history, before the partition of their row is chosen: at the partition it would be too late.
  LOCK TABLE teams, numbers IN SHARE ROW EXCLUSIVE MODE;
  IF to_regclass(partition) IS NOT NULL THEN
    RETURN;
  END IF;
  EXECUTE format('SELECT count(*) FROM (SELECT FROM %I WHERE %s LIMIT %s) AS few', default_partition, of_month, moved_max + 1)
    INTO found;
  IF found > moved_max THEN
    RAISE EXCEPTION '% holds more than % rows of the month %. At a quiet time, this moves them all: SELECT make_partition(%, %, 1000000000)',
      default_partition, moved_max, month, quote_literal(history), quote_literal(month);
  END IF;
  EXECUTE format('LOCK TABLE ONLY %I, %I IN ACCESS EXCLUSIVE MODE', history, default_partition);
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', partition, history);
  -- A delivery is updated once, by its end: with room on its page, that update needs no new entry in any index (decision 0017).
  IF history = 'deliveries' THEN
    EXECUTE format('ALTER TABLE %I SET (fillfactor = 50)', partition);
  END IF;
  -- Triggers guard rows against being changed, not against being moved.
  EXECUTE format('ALTER TABLE %I DISABLE TRIGGER USER', default_partition);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE %s RETURNING *) INSERT INTO %I SELECT * FROM moved',
    default_partition, of_month, partition);
  EXECUTE format('ALTER TABLE %I ENABLE TRIGGER USER', default_partition);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', history, partition, first_id, next_id);
  PERFORM guard_partitions(history);
END
$$;
