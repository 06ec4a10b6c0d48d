-- Simulated numbers (specification section 12.13, decision 0033): the server runs their phones.
ALTER TABLE numbers
  ADD COLUMN is_simulated boolean NOT NULL DEFAULT false,
  -- Only numbers that are reserved for fiction: none of them reaches a person.
  ADD CONSTRAINT simulated_is_fictional CHECK (NOT is_simulated OR phone_number ~ '^\+1[2-9][0-9]{2}55501[0-9]{2}$');
CREATE UNIQUE INDEX numbers_one_simulated ON numbers (team_id) WHERE is_simulated AND deleted_at IS NULL;

-- The leases of simulated phones: one process runs the phone of a number.
CREATE TABLE simulated_phones (
  number_id uuid PRIMARY KEY,
  team_id uuid NOT NULL,
  -- The process, by a random id.
  holder uuid NOT NULL,
  leased_until timestamptz NOT NULL,
  FOREIGN KEY (team_id, number_id) REFERENCES numbers (team_id, id)
);
