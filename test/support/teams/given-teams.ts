import { type HeldTransaction, holdTransaction } from '#test/support/database/held-transaction.ts';
import { changeBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

/** Makes a team in a transaction that commits when the test releases it. */
export function holdNewTeam(service: Pick<TestService, 'databaseUrl'>): Promise<HeldTransaction> {
  return holdTransaction(
    service,
    `INSERT INTO teams (id, name, plan, monthly_message_limit, created_at, route)
     VALUES (gen_random_uuid(), 'Example team', 'free', 100, to_timestamp(0), substr(gen_random_uuid()::text, 1, 4))`,
    [],
  );
}

/** Deletes all teams. @throws if a team has any rows */
export const deleteEmptyTeams = changeBy('DELETE FROM teams');
