import { allStatements } from '#server/database/query.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

type Service = Pick<TestService, 'query'>;

/**
 * Resolves once `count` statements with this prefix wait for a lock.
 * @param prefix of names, such as `messages.accept-`
 */
export async function untilBlocked(service: Service, prefix: string, count = 1): Promise<void> {
  await until(
    `${count} of ${prefix} wait for a lock`,
    async () => (await countBlocked(service, prefix)) >= count,
  );
}

/** Counts the statements with this prefix that wait for a lock, each on its own connection. */
export async function countBlocked(service: Service, prefix: string): Promise<number> {
  const blocked = await service.query(`SELECT FROM pg_stat_activity WHERE ${isBlocked}`, [textsOf(prefix)]);
  return blocked.length;
}

/** Ends the connections of all statements with this prefix once one waits for a lock, as a network failure does. */
export async function cutBlocked(service: Service, prefix: string): Promise<void> {
  await until(`${prefix} waits, and its connection is cut`, async () => {
    const cut = await service.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${isBlocked}`,
      [textsOf(prefix)],
    );
    return cut.length > 0;
  });
}

/** PostgreSQL shows only the beginning of a statement. */
const shownLength = 500;
const isBlocked = `datname = current_database() AND wait_event_type = 'Lock' AND left(query, ${shownLength}) = ANY ($1)`;

function textsOf(prefix: string): string[] {
  const texts = [...allStatements()].flatMap(([name, { text }]) =>
    name.startsWith(prefix) ? [text.slice(0, shownLength)] : [],
  );
  if (texts.length === 0) throw new Error(`no statement is named ${prefix}…`);
  return texts;
}
