import { Counter } from 'prom-client';
import { failureCodes } from '#contract/message.ts';
import { testLine } from '#contract/test-line.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { MessageRow } from './message.ts';

/**
 * Outcomes of messages that are counted. A late report changes `failed` to `sent`: such a message counts under both.
 */
export type CountedOutcome = 'received' | 'sent' | 'delivered' | 'failed';

const name = 'ownline_message_outcomes_total';

/**
 * Registers the counter with all its series at 0, so that the first outcome of a series already shows as an increase.
 */
export function registerOutcomeMetrics({ metrics }: Pick<Runtime, 'metrics'>): void {
  const counter = new Counter({
    name,
    help: 'Messages by outcome, as this process recorded it: received, sent, delivered, or failed with its error_code.',
    labelNames: ['outcome', 'error_code'] as const,
    registers: [metrics],
  });
  for (const outcome of ['received', 'sent', 'delivered'] as const)
    counter.inc({ outcome, error_code: '' }, 0);
  for (const code of failureCodes) counter.inc({ outcome: 'failed', error_code: code }, 0);
}

/** Counts the outcomes of messages once the transaction has committed; those of test keys are not counted. */
export function countOutcomes(
  trx: Transaction,
  { metrics }: Pick<Runtime, 'metrics'>,
  outcome: CountedOutcome,
  messages: readonly Pick<MessageRow, 'error_code' | 'from_handle' | 'to_handle'>[],
): void {
  trx.afterCommit(() => {
    // Only the service registers the counter: a command, such as `ownline erase`, has no metrics.
    const counter = metrics.getSingleMetric(name);
    if (!(counter instanceof Counter)) return;
    for (const { error_code: code, from_handle: from, to_handle: to } of messages) {
      if (from === testLine || to === testLine) continue;
      counter.inc({ outcome, error_code: outcome === 'failed' ? (code ?? '') : '' });
    }
  });
}
