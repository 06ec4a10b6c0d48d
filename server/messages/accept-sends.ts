import { Counter, Histogram } from 'prom-client';
import { errorCodeOf, isDatabaseAway } from '#server/database/database.ts';
import { monthOf } from '#server/database/partitions.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { statement } from '#server/database/statement.ts';
import { queueChannel } from '#server/devices/queue-channel.ts';
import { AppError, unavailable } from '#server/platform/app-error.ts';
import { Batcher } from '#server/platform/batcher.ts';
import type { MessageId, TeamId } from '#server/platform/ids.ts';
import type { Metrics } from '#server/platform/metrics.ts';
import { ensureUsageMonth } from '#server/usage/usage-store.ts';
import { acceptStatement, type SendOutcomeRow, type SendRow, type SendVerdict } from './accept-statement.ts';

/** How long an Idempotency-Key is kept (specification section 4.3). */
const idempotencyMs = 24 * 3_600_000;

const findKey = statement<{ message_id: MessageId }>(
  'messages.find-idempotency-key',
  'SELECT message_id FROM idempotency_keys WHERE team_id = $1 AND key = $2 AND created_at > $3',
);

const batchSizeMax = 256;
const batchesInFlightMax = 1;
const waitingMax = 5_000;

/** What became of one send. */
export interface SendOutcome {
  readonly verdict: Exclude<SendVerdict, 'again' | 'month_missing'>;
  readonly createdAt: Date;
  readonly knownMessageId: MessageId | null;
  readonly monthlyLimit: number;
  readonly used: number;
}

export interface SendAcceptor {
  readonly accept: (row: SendRow) => Promise<SendOutcome>;
  readonly drain: () => Promise<void>;
}

type Services = Pick<Runtime, 'database' | 'clock' | 'logger'>;

/**
 * Takes sends one by one and accepts them in batches: while two statements run, what comes in waits for the next.
 * More than 5,000 waiting are answered 503 with retry-after.
 */
export function createSendAcceptor(services: Services & Pick<Runtime, 'metrics'>): SendAcceptor {
  const observe = createSendMetrics(services.metrics);
  const batcher = new Batcher<SendRow, SendOutcome>({
    run: async (rows) => {
      const outcomes = await acceptSends(services, rows);
      observe(outcomes);
      return outcomes;
    },
    sizeMax: batchSizeMax,
    inFlightMax: batchesInFlightMax,
    windowMs: 0,
    waitingMax,
    refuse: () =>
      unavailable('Too many messages are waiting to be accepted. Repeat the request in a moment.'),
  });
  return { accept: (row) => batcher.add(row), drain: () => batcher.drain() };
}

function createSendMetrics(metrics: Metrics): (outcomes: readonly SendOutcome[]) => void {
  const batchSize = new Histogram({
    name: 'ownline_send_batch_size',
    help: 'Sends that were accepted or refused by one statement.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers: [metrics],
  });
  const sends = new Counter({
    name: 'ownline_sends_total',
    help: 'Sends by what became of them: accepted, replayed, or why they were refused.',
    labelNames: ['verdict'] as const,
    registers: [metrics],
  });
  return (outcomes) => {
    batchSize.observe(outcomes.length);
    for (const [verdict, of] of Map.groupBy(outcomes, (outcome) => outcome.verdict))
      sends.inc({ verdict }, of.length);
  };
}

/** Whether a repeat with this key would meet an earlier message of the team. */
export async function isKeyKnown(
  { database, clock }: Pick<Runtime, 'database' | 'clock'>,
  teamId: TeamId,
  key: string,
): Promise<boolean> {
  return (await findKey.row(database.hot, teamId, key, clock.in(-idempotencyMs))) !== undefined;
}

/**
 * One outcome per row, in order. A row that lost a race for its key, or that found its month not begun, runs again
 * at once: by then the reason is gone.
 */
export async function acceptSends(services: Services, rows: readonly SendRow[]): Promise<SendOutcome[]> {
  const outcomes: (SendOutcome | undefined)[] = rows.map(() => undefined);
  let open = rows.map((_, index) => index);
  while (open.length > 0) {
    const at = services.clock.now();
    const again: number[] = [];
    const results = await runBatch(
      services,
      open.flatMap((index) => rows[index] ?? []),
      at,
    );
    for (const [place, result] of results.entries()) {
      const index = open[place];
      if (index === undefined) continue;
      if (result.verdict === 'again' || result.verdict === 'month_missing') again.push(index);
      else outcomes[index] = toOutcome(result.verdict, result, at);
    }
    if (results.some((result) => result.verdict === 'month_missing')) {
      await ensureUsageMonth(
        services.database.hot,
        [...new Set(rows.map((row) => row.teamId))].sort(),
        monthOf(at),
      );
    }
    open = again;
  }
  return outcomes.flatMap((outcome) => outcome ?? []);
}

function toOutcome(verdict: SendOutcome['verdict'], row: SendOutcomeRow, createdAt: Date): SendOutcome {
  return {
    verdict,
    createdAt,
    knownMessageId: row.known_message_id,
    monthlyLimit: row.monthly_limit,
    used: row.used,
  };
}

async function runBatch(services: Services, rows: readonly SendRow[], at: Date): Promise<SendOutcomeRow[]> {
  try {
    return await runStatement(services, rows, at);
  } catch (error) {
    const code = errorCodeOf(error);
    // 22 and 23: a row that PostgreSQL can't take. Row by row, it fails alone and the others stand.
    if (code?.startsWith('22') || code?.startsWith('23')) {
      if (rows.length === 1) return [notStored(services, error)];
      const results: SendOutcomeRow[] = [];
      for (const row of rows) results.push(...(await runBatch(services, [row], at)));
      return results;
    }
    if (!isDatabaseAway(error)) throw error;
    throw new AppError(
      'internal_error',
      'The database went away while the message was being accepted. It may have been accepted: ' +
        'repeat the request with the same Idempotency-Key, and it is accepted once.',
      { headers: { 'retry-after': '2' }, cause: error },
    );
  }
}

function notStored({ logger }: Services, error: unknown): SendOutcomeRow {
  logger.error({ err: error }, 'a message passed every check and could not be stored');
  return { n: 1, verdict: 'not_stored', known_message_id: null, number_id: null, monthly_limit: 0, used: 0 };
}

async function runStatement(
  services: Services,
  rows: readonly SendRow[],
  at: Date,
): Promise<SendOutcomeRow[]> {
  const { hot } = services.database;
  const results = await acceptStatement.rows(
    hot,
    rows.map((_, index) => index + 1),
    rows.map((row) => row.teamId),
    rows.map((row) => row.messageId),
    rows.map((row) => row.from),
    rows.map((row) => row.to),
    rows.map((row) => row.content),
    rows.map((row) => row.idempotencyKey),
    rows.map((row) => row.fingerprint),
    at,
    monthOf(at),
    new Date(at.getTime() - idempotencyMs),
  );
  results.sort((left, right) => left.n - right.n);
  const woken = new Set(results.flatMap((row) => (row.verdict === 'accepted' ? (row.number_id ?? []) : [])));
  if (woken.size > 0) services.database.notify(queueChannel, woken);
  return results;
}
