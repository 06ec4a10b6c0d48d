import pg from 'pg';
import type { TestService } from './test-service.ts';

/** A connection that listens to a channel of NOTIFY. */
export interface HeardNotifications {
  /** The number of notifications since the beginning, of all that was committed before the call. */
  readonly count: () => Promise<number>;
  readonly close: () => Promise<void>;
}

export async function hearNotifications(
  { databaseUrl }: Pick<TestService, 'databaseUrl'>,
  channel: string,
): Promise<HeardNotifications> {
  const client = new pg.Client({ connectionString: databaseUrl });
  let heard = 0;
  client.on('notification', () => {
    heard += 1;
  });
  await client.connect();
  await client.query(`LISTEN ${channel}`);
  return {
    count: async () => {
      // Notifications come before the result of the next statement.
      await client.query('SELECT');
      return heard;
    },
    close: () => client.end(),
  };
}
