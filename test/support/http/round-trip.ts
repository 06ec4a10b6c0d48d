import type { TestService } from '#test/support/service/test-service.ts';

/** Runs an empty statement, so that the time of one round trip to the database passes. */
export async function roundTrip({ query }: Pick<TestService, 'query'>): Promise<void> {
  await query('SELECT');
}
