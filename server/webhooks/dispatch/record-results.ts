import type { AttemptFailure } from '#contract/attempt-outcome.ts';
import { failuresMax } from '#contract/webhook.ts';
import { isLocked } from '#server/database/database.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { LatestTimes } from '#server/platform/concurrency/latest-times.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { TeamId, WebhookId } from '#server/platform/ids.ts';
import type { AttemptResult } from './attempt-delivery.ts';
import { nextDeliveryAttemptAt } from './delivery-schedule.ts';
import { type ClassifiedResult, webhookIdsOfResults, writeResults } from './result-statement.ts';
import {
  countFailures,
  disableWebhook,
  lockFailureCounts,
  lockLeasedDeliveries,
  writeFailureCounts,
} from './webhook-failures.ts';

// Locks in the order of ids, so that processes never deadlock. Only the first attempt ever, and the first of each
// minute, is notified as a change. A change each second would make every dashboard read the webhooks each second.
const write = query<{ webhookIds: WebhookId[]; times: Date[] }, { team_id: TeamId | null; id: WebhookId }>(
  'webhooks.write-triggered',
  `WITH locked AS MATERIALIZED (
     SELECT id, team_id, last_triggered_at FROM webhooks WHERE id = ANY (:webhookIds::uuid[]) ORDER BY id FOR NO KEY UPDATE
   )
   UPDATE webhooks w SET last_triggered_at = greatest(w.last_triggered_at, t.at)
   FROM unnest(:webhookIds::uuid[], :times::timestamptz[]) AS t (id, at)
   WHERE w.id = t.id AND w.id = ANY (ARRAY(SELECT id FROM locked))
   RETURNING w.id, (
     SELECT h.team_id FROM locked h
     WHERE h.id = w.id AND (h.last_triggered_at IS NULL OR h.last_triggered_at < date_trunc('minute', t.at))
   ) AS team_id`,
  { changes: 'webhook', team: 'team_id', ids: 'id' },
);

/** Collects the time of each webhook's last attempt in this process. */
export const createLastTriggered = ({ database }: Runtime) =>
  new LatestTimes<WebhookId>((webhookIds, times) => write.run(database.pool, { webhookIds, times }));

export interface Recorded {
  /** Number of webhooks that were disabled. */
  readonly disabled: number;
  /** Results that were not recorded, because another transaction has locked rows of their webhooks. */
  readonly locked: readonly AttemptResult[];
}

/**
 * Records results of attempts in the order in which the attempts ended (specification section 6.3). A success of a
 * webhook without failures changes no count, so one statement writes such results. For other webhooks a short
 * transaction locks the webhook, counts its failures, and disables it at the tenth in a row. Nothing waits long for a
 * lock.
 * @param results results of different deliveries
 */
export async function recordResults(services: Runtime, results: readonly AttemptResult[]): Promise<Recorded> {
  const classified = results.map((result) => classify(services, result));
  const counting = new Set(classified.filter(needsCount).map(({ result }) => result.claimed.webhook_id));
  const isCounting = ({ result }: ClassifiedResult) => counting.has(result.claimed.webhook_id);
  const plain = await byWebhook(
    classified.filter((one) => !isCounting(one)),
    (some) => writePlain(services, some),
  );
  const counted = await byWebhook([...classified.filter(isCounting), ...plain.done.flat()], (some) =>
    countAndWrite(services, some),
  );
  failpoint('results written');
  return {
    disabled: counted.done.reduce((sum, webhooks) => sum + webhooks, 0),
    locked: [...plain.locked, ...counted.locked].map(({ result }) => result),
  };
}

/**
 * Runs work for all results at once. If it meets the lock of another transaction, it runs again, for each webhook
 * apart.
 * @returns the values of the runs, and the results that met a lock
 */
async function byWebhook<Done>(
  results: readonly ClassifiedResult[],
  run: (results: readonly ClassifiedResult[]) => Promise<Done>,
): Promise<{ readonly done: readonly Done[]; readonly locked: readonly ClassifiedResult[] }> {
  if (results.length === 0) return { done: [], locked: [] };
  try {
    return { done: [await run(results)], locked: [] };
  } catch (error) {
    if (!isLocked(error)) throw error;
    const groups = Map.groupBy(results, ({ result }) => result.claimed.webhook_id);
    if (groups.size === 1) return { done: [], locked: results };
    const parts: Awaited<ReturnType<typeof byWebhook<Done>>>[] = [];
    for (const group of groups.values()) parts.push(await byWebhook(group, run));
    return { done: parts.flatMap(({ done }) => done), locked: parts.flatMap(({ locked }) => locked) };
  }
}

/** @returns the results that were not written, because their webhook has a failure now */
function writePlain(services: Runtime, results: readonly ClassifiedResult[]): Promise<ClassifiedResult[]> {
  const webhooksWithoutFailures = webhookIdsOfResults(results);
  return writeResults(services.database.batches, results, {
    webhooksWithoutFailures,
    at: services.clock.now(),
  });
}

/** Failures of the server's code or network do not count, because they say nothing about the receiver. */
const ownFailures: ReadonlySet<AttemptResult['outcome']> = new Set(['internal_error', 'no_network']);

/** Classify: decides whether a result counts, and when the delivery's next attempt is due. */
function classify({ config }: Runtime, result: AttemptResult): ClassifiedResult {
  const { claimed, startedAt, outcome } = result;
  // A stop of the service aborted the attempt. Another process makes the attempt again, and this one does not count.
  if (outcome === 'aborted') return { result, nextDueAt: claimed.due_at, isCounted: false };
  if (claimed.lane === 'manual' || outcome === 'succeeded') {
    return { result, nextDueAt: undefined, isCounted: claimed.lane !== 'manual' };
  }
  const { attempt, first_started_at: firstStartedAt } = claimed;
  return {
    result,
    nextDueAt: nextDeliveryAttemptAt(config.webhookOffsetsMs, { attempt, firstStartedAt, startedAt }),
    isCounted: !ownFailures.has(outcome),
  };
}

function needsCount({ result, isCounted }: ClassifiedResult): boolean {
  return isCounted && (result.outcome !== 'succeeded' || result.claimed.failure_count > 0);
}

/** Counts the failures and writes the results. @returns the number of disabled webhooks */
async function countAndWrite(services: Runtime, classified: readonly ClassifiedResult[]): Promise<number> {
  return services.database.transaction(async (trx) => {
    const webhooks = await lockFailureCounts(trx, { webhookIds: webhookIdsOfResults(classified) });
    const owned = await lockLeasedDeliveries(
      trx,
      classified.map(({ result }) => result.claimed),
    );
    const { results, counts } = countFailures(webhooks, owned, classified);
    await writeResults(trx, results, { webhooksWithoutFailures: [], at: services.clock.now() });
    const tripped = webhooks.filter(({ id }) => counts.get(id) === failuresMax);
    const below = [...counts].filter(([, count]) => count < failuresMax);
    await writeFailureCounts(trx, {
      webhookIds: below.map(([id]) => id),
      counts: below.map(([, count]) => count),
    });
    for (const webhook of tripped) {
      await disableWebhook(trx, services, webhook, lastFailureOf(results, webhook.id));
    }
    failpoint('failures before commit');
    return tripped.length;
  }, services.database.batches);
}

function lastFailureOf(results: readonly ClassifiedResult[], webhookId: WebhookId): AttemptFailure {
  const last = results.findLast(
    ({ result, isCounted }) => isCounted && result.claimed.webhook_id === webhookId,
  );
  return last === undefined || last.result.outcome === 'succeeded' ? 'internal_error' : last.result.outcome;
}
