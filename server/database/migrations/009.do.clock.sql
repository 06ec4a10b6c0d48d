-- The service's time and the database's clock (decision 0020). All processes take the same time from these rows.
CREATE TABLE service_clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- The service's time less the database's clock: a step of that clock which is not followed yet. 0 while it is trusted.
  held_ms bigint NOT NULL DEFAULT 0,
  -- When the clock last stepped, in the service's time; NULL while it is trusted.
  stepped_at timestamptz,
  -- The sum of all steps that were followed: how far the service's time has jumped.
  followed_ms bigint NOT NULL DEFAULT 0,
  -- Counts the changes of this row: a process that decided by an older one decides again.
  version bigint NOT NULL DEFAULT 0,
  CONSTRAINT stepped_while_held CHECK ((held_ms = 0) = (stepped_at IS NULL))
);
INSERT INTO service_clock DEFAULT VALUES;

-- The service's time beside a clock that nobody sets: the one that counts from a machine's boot. A process that starts during
-- the same boot knows by it how much time has passed.
CREATE TABLE clock_readings (
  boot_id uuid PRIMARY KEY,
  -- Since the boot, with and without the time that the machine slept.
  uptime_ms bigint NOT NULL,
  monotonic_ms bigint NOT NULL,
  service_at timestamptz NOT NULL,
  -- service_clock.followed_ms at that moment.
  followed_ms bigint NOT NULL
);
