import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { readOptions } from '#campaign/options.ts';
import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import type { SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { measureCpu } from '../cpu-time.ts';
import { contact, numbers, text } from '../send/sends.ts';
import { Servers, unlimited } from '../serve.ts';
import { startPhones } from '../simulated-phones.ts';
import { subscribe } from '../subscribe.ts';
import { untilSettled } from '../until-settled.ts';
import { benchFilled } from './bench-filled.ts';
import { printGrowth } from './print-growth.ts';
import { readSizes, rewriteTables } from './table-sizes.ts';

/** `clients` bounds the concurrent sends, `waitingMax` the messages that wait for their phones. */
const clients = 8;
const waitingMax = 400;

/** Messages before the first measurement, so that tables and indexes have their first pages. */
const warmUp = 1_000;

/** Each contact gets ten messages, so the number of conversations grows with the messages. */
const messagesPerContact = 10;

/**
 * Measures the growth of the database: each message is sent, handed out and reported sent, and webhooks take its event
 * at the first attempt. Prints MB (10^6 bytes) for 100,000 messages, by table. The first three columns show the tables
 * as the load leaves them. The next three show the same rows after a rewrite without dead rows and free pages.
 * `--filled` compares pages and loads with a filled database instead (`benchFilled`).
 * usage: `npm run bench -- growth [--messages 20000] [--webhooks 1] [--keys]`, or `[--filled 10000000]`
 */
export async function benchGrowth(): Promise<void> {
  const defaults = { messages: 20_000, webhooks: 1, keys: false, filled: 0 };
  const { messages, webhooks, keys, filled } = readOptions(process.argv.slice(3), defaults);
  if (filled > 0) return benchFilled(filled);
  const servers = await Servers.open();
  const { dataDir } = servers;
  let phones: readonly SimulatedPhone[] = [];
  let pool: pg.Pool | undefined;
  try {
    const sink = await servers.start('bench/receiver.ts', { args: ['answers'] });
    const server = await servers.start('server/main.ts', {
      settings: { ...unlimited(dataDir), EGRESS_ALLOW_CIDRS: '127.0.0.1' },
    });
    const key = await firstKey(dataDir);
    const api = new ApiClient(server.origin, key);
    await subscribe(api, `${sink.origin}/webhooks/ownline-`, webhooks);
    phones = await startPhones(api, numbers);
    pool = new pg.Pool({ connectionString: await findEngineUrl(dataDir), max: 1 });
    const database = pool;
    const pass = async (from: number, count: number) => {
      await passMessages(api, phones, {
        from,
        count,
        contacts: messages / messagesPerContact,
        withKeys: keys,
      });
      await untilSettled(database);
    };

    await pass(0, warmUp);
    await database.query('VACUUM ANALYZE');
    const before = await readSizes(database);
    const used = await measureCpu(server, dataDir, () => pass(warmUp, messages));
    const after = await readSizes(database);
    await rewriteTables(database);
    printGrowth({ messages, before, after, rewritten: await readSizes(database) });
    const eachUs = (cpuSeconds: number) => Math.round((cpuSeconds * 1e6) / messages);
    process.stdout.write(
      `\n${messages} messages, ${webhooks} webhooks, ${Math.round(messages / used.seconds)}/s; CPU µs each: ` +
        `node ${eachUs(used.node)}, PostgreSQL ${eachUs(used.postgres)}\n`,
    );
  } finally {
    for (const phone of phones) phone.switchOff();
    await pool?.end();
    await servers.close();
  }
}

/** Sends as fast as the phones take the messages. */
async function passMessages(
  api: ApiClient,
  phones: readonly SimulatedPhone[],
  {
    from,
    count,
    contacts,
    withKeys,
  }: Readonly<Record<'from' | 'count' | 'contacts', number>> & { readonly withKeys: boolean },
): Promise<void> {
  const handled = () => phones.reduce((sum, phone) => sum + phone.sent.length, 0);
  const handledBefore = handled();
  let sent = 0;
  const client = async () => {
    while (sent < count) {
      const n = from + sent;
      sent += 1;
      while (sent - (handled() - handledBefore) > waitingMax) await pause(5);
      const answer = await api.request('POST', '/v1/messages/send', {
        body: { from: numbers[n % numbers.length], to: contact(n % contacts), content: text(n) },
        headers: withKeys ? { 'idempotency-key': `booking-${n}-reminder` } : {},
      });
      if (answer.status !== 202) throw new Error(`the send was not accepted: ${answer.text}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}
