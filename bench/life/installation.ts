import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';
import { Servers, unlimited } from '../serve.ts';
import { subscribe } from '../subscribe.ts';
import { claimDevices, phoneNumbers } from './connect-phones.ts';
import { Ledger } from './ledger.ts';
import { PhoneFleet } from './phone-fleet.ts';
import { Senders } from './senders.ts';

const connectedMaxMs = 300_000;

export interface Setup {
  readonly phones: number;
  readonly senders: number;
  readonly webhooks: number;
}

/** A service with waiting phones, each side in a process of its own. The senders run in this process. */
export type Installation = Awaited<ReturnType<typeof openInstallation>>;

/** @param existing the data of an earlier installation, which stay, and further settings of the server */
export async function openInstallation(
  { phones, senders: connections, webhooks }: Setup,
  existing?: { readonly dataDir: string; readonly settings: Readonly<Record<string, string>> },
) {
  const servers = await Servers.open(existing?.dataDir);
  const { dataDir } = servers;
  const ledger = new Ledger();
  const fleet = new PhoneFleet((handOuts) => ledger.handOut(handOuts));
  let database: pg.Pool | undefined;
  const close = async () => {
    await fleet.stop();
    await database?.end();
    await servers.close();
  };
  try {
    const sink = await servers.start('bench/receiver.ts', { args: ['counts'] });
    const server = await servers.start('server/main.ts', {
      settings: { ...unlimited(dataDir), EGRESS_ALLOW_CIDRS: '127.0.0.1', ...existing?.settings },
    });
    const key = await firstKey(dataDir);
    const pool = new pg.Pool({ connectionString: await findEngineUrl(dataDir), max: 1 });
    database = pool;
    const numbers = phoneNumbers(phones);
    fleet.connect(server.origin, await claimDevices(server.origin, key, numbers));
    await until(
      'all phones have a session',
      async () => {
        const { rows } = await pool.query('SELECT count(*)::int AS n FROM device_sessions');
        return rows[0]?.n === phones;
      },
      connectedMaxMs,
    );
    const api = new ApiClient(server.origin, key);
    await subscribe(api, `${sink.origin}/`, webhooks);
    const senders = new Senders({ origin: server.origin, key, numbers }, connections, ledger);
    return {
      dataDir,
      servers,
      server,
      api,
      database: pool,
      fleet,
      /** The receiver of the webhooks. */
      sink,
      senders,
      ledger,
      /** Deliveries that the webhooks' receiver got so far. */
      countPosts: async () => Number(await (await fetch(sink.origin)).text()),
      /** Waits until phones have reported all messages, and webhooks got their events. */
      untilSettled: (): Promise<unknown> => untilSettled(pool),
      close: async () => {
        senders.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const settledMaxMs = 600_000;

/** Waits until phones have reported all messages, and webhooks have got their events. */
async function untilSettled(pool: pg.Pool): Promise<void> {
  await until(
    'all are reported and delivered',
    async () => {
      await pause(200);
      const { rows } = await pool.query(
        `SELECT FROM send_queue UNION ALL SELECT FROM in_flight UNION ALL SELECT FROM unpublished_events
         UNION ALL SELECT FROM due_deliveries LIMIT 1`,
      );
      return rows.length === 0;
    },
    settledMaxMs,
  );
}
