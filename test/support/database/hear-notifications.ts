import pg from 'pg';
import type { TestService } from '#test/support/service/test-service.ts';

/** Listens to channels on a connection of the test, independently of the server's listener. */
export async function hearNotifications(
  { databaseUrl }: Pick<TestService, 'databaseUrl'>,
  ...channels: readonly string[]
) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const heard: { channel: string; payload: string }[] = [];
  client.on('notification', ({ channel, payload = '' }) => heard.push({ channel, payload }));
  for (const channel of channels) await client.query(`LISTEN ${channel}`);
  return {
    /** Notifications so far, in order. */
    heard,
    /**
     * Resolves once `heard` has every notification that was committed before the call. PostgreSQL sends them before the
     * result of the next statement.
     */
    upToNow: async () => void (await client.query('SELECT')),
    stop: () => client.end(),
  };
}
