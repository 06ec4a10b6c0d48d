import type { TestService } from './test-service.ts';

/** A statement that does nothing: a step of time of a round trip to the database. */
export async function roundTrip({ query }: Pick<TestService, 'query'>): Promise<void> {
  await query('SELECT');
}
