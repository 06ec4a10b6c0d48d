import type { AttemptFailure } from '#contract/attempt-outcome.ts';
import { eventTypes } from '#contract/event.ts';
import { demoDomain } from '#server/platform/demo-domain.ts';
import type { TeamId, WebhookId } from '#server/platform/ids/ids.ts';
import type { AttemptResult } from '#server/webhooks/dispatch/attempt-delivery.ts';
import { claimDemoDeliveries, findNextDue } from '#server/webhooks/dispatch/claim-demo-deliveries.ts';
import { LastTriggered } from '#server/webhooks/dispatch/last-triggered.ts';
import { recordResults } from '#server/webhooks/dispatch/record-results.ts';
import { createWebhook } from '#server/webhooks/endpoints/create-webhook.ts';
import type { DemoMember } from './demo-people.ts';
import { type DemoRuntime, moveTo } from './demo-runtime.ts';

/** How a receiver answered an attempt. */
interface DemoAnswer {
  readonly outcome: 'succeeded' | AttemptFailure;
  readonly status: number;
  readonly body: string;
  readonly durationMs: number;
}

/** Returns the answer of a webhook's receiver to an attempt at the present time of the demo. */
type DemoReceiver = () => DemoAnswer;

/** The receivers of a demo's webhooks: attempts get their answers here, and are recorded as the dispatcher does. */
class DemoReceivers {
  readonly #demo: DemoRuntime;
  readonly #teamId: TeamId;
  readonly #receivers = new Map<WebhookId, DemoReceiver>();
  readonly #triggered: LastTriggered;

  constructor(demo: DemoRuntime, teamId: TeamId) {
    this.#demo = demo;
    this.#teamId = teamId;
    this.#triggered = new LastTriggered(demo);
  }

  add(webhookId: WebhookId, receiver: DemoReceiver): void {
    this.#receivers.set(webhookId, receiver);
  }

  /** Makes the attempts that are due until a time, each at its own time. */
  async attemptUntil(timeMs: number): Promise<void> {
    const { trx, clock } = this.#demo;
    const teamId = this.#teamId;
    for (;;) {
      const { due_at: dueAt } = await findNextDue(trx, { teamId });
      if (!dueAt || dueAt.getTime() > timeMs) return;
      moveTo(this.#demo, dueAt.getTime());
      const claimed = await claimDemoDeliveries(trx, { teamId, now: clock.now() });
      for (const row of claimed) await this.#attempt(row);
    }
  }

  /** Writes when the webhooks were triggered last. */
  async flush(): Promise<void> {
    await this.#triggered.flush();
  }

  async #attempt(row: Awaited<ReturnType<typeof claimDemoDeliveries>>[number]): Promise<void> {
    const startedAt = this.#demo.clock.now();
    const answer = this.#receivers.get(row.webhook_id)?.();
    if (!answer) throw new Error('a webhook of the demo has no receiver');
    const result: AttemptResult = {
      claimed: { ...row, is_test: false, body: null },
      id: this.#demo.ids.next('att', startedAt.getTime()),
      startedAt,
      durationMs: answer.durationMs,
      outcome: answer.outcome,
      statusCode: answer.status,
      responseBody: Buffer.from(answer.body),
      responseTruncated: false,
    };
    this.#triggered.record(row.webhook_id, startedAt);
    await recordResults(this.#demo, [result]);
  }
}

/**
 * Makes the webhooks of a demo, and their receivers. The first receiver is restarted in the last minutes, so that a
 * retry waits. The second one fails after eight days, until failures disable its webhook.
 */
export async function createDemoReceivers(
  demo: DemoRuntime,
  teamId: TeamId,
  admin: DemoMember,
  nowMs: number,
): Promise<DemoReceivers> {
  const receivers = new DemoReceivers(demo, teamId);
  const create = async (host: string, events: string[], receiver: DemoReceiver) => {
    const input = { url: `https://${host}.${demoDomain}/ownline`, events: events as [] };
    const { webhook } = await createWebhook(demo, teamId, input, admin.act());
    receivers.add(webhook.id, receiver);
  };
  const failsFromMs = demo.clock.nowMs() + failureAfterMs;
  await create('hooks', [...eventTypes], () =>
    demo.clock.nowMs() > nowMs - restartMs
      ? unavailable
      : {
          outcome: 'succeeded',
          status: 200,
          body: '{"ok":true}',
          durationMs: 40 + (demo.clock.nowMs() % 120),
        },
  );
  await create('crm', ['message.received', 'contact.opted_out'], () =>
    demo.clock.nowMs() > failsFromMs
      ? unavailable
      : { outcome: 'succeeded', status: 204, body: '', durationMs: 310 },
  );
  return receivers;
}

const failureAfterMs = 7.9 * 86_400_000;
const restartMs = 150_000;

const unavailable: DemoAnswer = {
  outcome: 'http_5xx',
  status: 503,
  body: '{"error":"The service is being restarted."}',
  durationMs: 1_204,
};
