-- Restores from backups (specification section 10.8, decision 0034). While one of them is not resumed, nothing goes out.
CREATE TABLE restores (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  restored_at timestamptz NOT NULL,
  -- The moment of the snapshot that was restored, and the release that made it.
  backup_taken_at timestamptz NOT NULL,
  product_version text NOT NULL,
  schema_version integer NOT NULL,
  resumed_at timestamptz,
  -- The actor who resumed, and the choices.
  resumed_by_kind text CHECK (resumed_by_kind IN ('member', 'operator')),
  resumed_by_id text,
  resumed_by_name text,
  cancelled_messages boolean,
  skipped_deliveries boolean,
  CONSTRAINT resumed_by_an_actor CHECK (
    num_nulls(resumed_at, resumed_by_kind, resumed_by_id, resumed_by_name, cancelled_messages, skipped_deliveries) IN (0, 6)
  )
);
