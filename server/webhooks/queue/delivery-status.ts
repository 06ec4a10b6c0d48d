import type { DeliveryStatus } from '#contract/webhook.ts';

/** Actions on a delivery that exists (specification sections 6.3 and 6.4). */
export type DeliveryAction =
  | 'succeed'
  | 'succeed_late'
  | 'give_up'
  | 'skip'
  | 'keep_success'
  | 'redeliver'
  | 'replay';

interface Step {
  readonly from: readonly DeliveryStatus[];
  readonly to: DeliveryStatus;
  /** The cause, for docs/states.md. */
  readonly when: string;
}

/** The state table of deliveries. SQL guards and docs/states.md are derived from it. */
export const deliverySteps: Readonly<Record<DeliveryAction, Step>> = {
  succeed: { from: ['pending'], to: 'succeeded', when: 'the receiver answered 2xx' },
  succeed_late: {
    from: ['failed', 'skipped'],
    to: 'succeeded',
    when: 'an attempt succeeded that was in progress when the delivery ended',
  },
  give_up: { from: ['pending'], to: 'failed', when: 'the last attempt failed' },
  skip: {
    from: ['pending'],
    to: 'skipped',
    when: 'the webhook is off, or the webhook or the event no longer exists',
  },
  keep_success: {
    from: ['pending'],
    to: 'succeeded',
    when: 'a redelivery of a delivery that had succeeded failed or was skipped',
  },
  redeliver: { from: ['succeeded', 'failed', 'skipped'], to: 'pending', when: 'a redelivery was requested' },
  replay: { from: ['failed', 'skipped'], to: 'pending', when: 'a replay includes it' },
};

/** The SQL condition for an action, derived from the table: `d.status IN ('pending')`. */
export function sqlDeliveryGuard(action: DeliveryAction, alias: string): string {
  return `${alias}.status IN (${deliverySteps[action].from.map((status) => `'${status}'`).join(', ')})`;
}

/** The status that an action leads to, as an SQL literal. */
export function sqlNextDeliveryStatus(action: DeliveryAction): string {
  return `'${deliverySteps[action].to}'`;
}

/**
 * SQL: the status after an action that ends a delivery; a delivery that a receiver accepted before stays `succeeded`.
 */
export function sqlStatusAfter(action: 'skip' | 'give_up', alias: string): string {
  return `CASE WHEN ${alias}.succeeded_at IS NULL THEN ${sqlNextDeliveryStatus(action)} ELSE ${sqlNextDeliveryStatus('keep_success')} END`;
}
