import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { eventTypes } from '#contract/event.ts';
import { findEngineUrl } from '#server/database/engine/engine-url.ts';
import { claimDevice } from '#simulated-phone/device-client.ts';
import { SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';
import { cpuSecondsOf, cpuSecondsOfEngine } from '../cpu-time.ts';
import { contact, numbers, text } from '../send/sends.ts';
import { Servers, unlimited } from '../serve.ts';
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
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      messages: { type: 'string', default: '20000' },
      webhooks: { type: 'string', default: '1' },
      keys: { type: 'boolean', default: false },
      filled: { type: 'string' },
    },
  });
  if (values.filled !== undefined) return benchFilled(Number(values.filled));
  const [messages, webhooks] = [Number(values.messages), Number(values.webhooks)];
  const servers = await Servers.open();
  const { dataDir } = servers;
  const phones: SimulatedPhone[] = [];
  let pool: pg.Pool | undefined;
  try {
    const sink = await servers.start('bench/receiver.ts', { args: ['answers'] });
    const server = await servers.start('server/main.ts', {
      settings: { ...unlimited(dataDir), EGRESS_ALLOW_CIDRS: '127.0.0.1' },
    });
    const key = await firstKey(dataDir);
    const api = new ApiClient(server.origin, key);
    for (let n = 0; n < webhooks; n += 1) await subscribe(api, `${sink.origin}/webhooks/ownline-${n}`);
    for (const number of numbers) phones.push(await startPhone(api, number));
    await until('all numbers are verified', async () => {
      const listed = (await api.get('/v1/numbers')).json.numbers as readonly { verified: boolean }[];
      return listed.every(({ verified }) => verified);
    });
    pool = new pg.Pool({ connectionString: await findEngineUrl(dataDir), max: 1 });
    const database = pool;
    const pass = async (from: number, count: number) => {
      await passMessages(api, phones, {
        from,
        count,
        contacts: messages / messagesPerContact,
        withKeys: values.keys,
      });
      await untilSettled(database);
    };
    const used = async () => ({
      node: await cpuSecondsOf(server.pid),
      postgres: await cpuSecondsOfEngine(dataDir),
    });

    await pass(0, warmUp);
    await database.query('VACUUM ANALYZE');
    const [sizesBefore, before] = [await readSizes(database), await used()];
    const startedMs = performance.now();
    await pass(warmUp, messages);
    const seconds = (performance.now() - startedMs) / 1_000;
    const after = await used();
    const sizes = await readSizes(database);
    await rewriteTables(database);
    printGrowth({ messages, before: sizesBefore, after: sizes, rewritten: await readSizes(database) });
    const eachUs = (cpuSeconds: number) => Math.round((cpuSeconds * 1e6) / messages);
    process.stdout.write(
      `\n${messages} messages, ${webhooks} webhooks, ${Math.round(messages / seconds)}/s; CPU µs each: ` +
        `node ${eachUs(after.node - before.node)}, PostgreSQL ${eachUs(after.postgres - before.postgres)}\n`,
    );
  } finally {
    for (const phone of phones) phone.switchOff();
    await pool?.end();
    await servers.close();
  }
}

async function subscribe(api: ApiClient, url: string): Promise<void> {
  const made = await api.post('/v1/webhooks', { url, events: eventTypes });
  if (made.status !== 201) throw new Error(`the webhook was not created: ${made.text}`);
}

async function startPhone(api: ApiClient, number: string): Promise<SimulatedPhone> {
  const { setup_url } = (await api.post('/v1/numbers/verify', { phone_number: number })).json;
  const phone = new SimulatedPhone(await claimDevice(String(setup_url)));
  void phone.run();
  return phone;
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
  }: {
    readonly from: number;
    readonly count: number;
    readonly contacts: number;
    readonly withKeys: boolean;
  },
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
