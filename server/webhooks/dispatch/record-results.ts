import type { AttemptFailure } from '#contract/attempt-outcome.ts';
import { failuresMax } from '#contract/webhook.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { WebhookId } from '#server/platform/ids/ids.ts';
import type { AttemptResult } from './attempt-delivery.ts';
import { nextDeliveryAttemptAt } from './delivery-schedule.ts';
import { type DisableServices, disableWebhook } from './disable-webhook.ts';
import { countFailures } from './failure-count.ts';
import { lockFailureCounts, lockLeasedDeliveries, writeFailureCounts } from './failure-store.ts';
import { type ClassifiedResult, webhookIdsOfResults, writeResults } from './result-statement.ts';

type Services = DisableServices & Pick<Runtime, 'database'>;

/** Counts for metrics. */
export interface Recorded {
  readonly disabled: number;
}

/**
 * Records results of attempts in the order in which the attempts ended (specification section 6.3). A success of a
 * webhook without failures changes no count, so one statement writes such results. For other webhooks a short
 * transaction locks the webhook, counts its failures, and disables it at the tenth in a row.
 * @param results results of different deliveries
 */
export async function recordResults(
  services: Services,
  results: readonly AttemptResult[],
): Promise<Recorded> {
  const classified = results.map((result) => classify(services, result));
  const counting = new Set(classified.filter(needsCount).map(({ result }) => result.claimed.webhook_id));
  const isCounting = ({ result }: ClassifiedResult) => counting.has(result.claimed.webhook_id);
  const plain = classified.filter((one) => !isCounting(one));
  const omitted =
    plain.length === 0
      ? []
      : await writeResults(services.database.hot, plain, {
          webhooksWithoutFailures: webhookIdsOfResults(plain),
          at: services.clock.now(),
        });
  const disabled = await countAndWrite(services, [...classified.filter(isCounting), ...omitted]);
  failpoint('results written');
  return { disabled };
}

/** Failures of the server's code or network say nothing about the receiver. */
const ownFailures: ReadonlySet<AttemptResult['outcome']> = new Set(['internal_error', 'no_network']);

/** Classify: decides whether a result counts, and when the delivery's next attempt is due. */
function classify({ config }: Services, result: AttemptResult): ClassifiedResult {
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
async function countAndWrite(services: Services, classified: readonly ClassifiedResult[]): Promise<number> {
  if (classified.length === 0) return 0;
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
  });
}

function lastFailureOf(results: readonly ClassifiedResult[], webhookId: WebhookId): AttemptFailure {
  const last = results.findLast(
    ({ result, isCounted }) => isCounted && result.claimed.webhook_id === webhookId,
  );
  return last === undefined || last.result.outcome === 'succeeded' ? 'internal_error' : last.result.outcome;
}
