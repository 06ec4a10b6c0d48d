import type { Transaction } from '#server/database/query.ts';
import { publishEvents } from '#server/events/publisher.ts';
import type { TeamId } from '#server/platform/ids.ts';
import { changeBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { unpublishedEvents } from './stored-events.ts';

/** Publishes all events, beside a publisher that may run in the service. */
export async function publishAll(service: Pick<TestService, 'query' | 'runtime'>): Promise<void> {
  await until('all events are published', async () => {
    await publishEvents(service.runtime);
    return (await unpublishedEvents(service)).length === 0;
  });
}

/** Publishes without a notification, like a publisher that dies right after its commit. */
export const publishSilently = changeBy<[teamId: TeamId]>(
  `WITH moved AS (DELETE FROM unpublished_events WHERE team_id = $1 RETURNING team_id, event_id)
   INSERT INTO event_feed (team_id, event_id) SELECT * FROM moved`,
);

/** Removes unpublished events from the queue, in the transaction of a publisher. */
export async function takeUnpublished(trx: Transaction): Promise<void> {
  await trx.query('DELETE FROM unpublished_events');
}
