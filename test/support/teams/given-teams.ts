import { heldBy } from '#test/support/database/held-transaction.ts';
import { changeBy } from '#test/support/database/statement.ts';

/** Makes a team in a transaction that commits when the test releases it. */
export const holdNewTeam = heldBy(
  `INSERT INTO teams (id, name, plan, monthly_message_limit, created_at, route)
   VALUES (gen_random_uuid(), 'Example team', 'free', 100, to_timestamp(0), substr(gen_random_uuid()::text, 1, 4))`,
);

/** Deletes all teams. @throws if a team has any rows */
export const deleteEmptyTeams = changeBy('DELETE FROM teams');
