import type { Runtime } from '#server/database/runtime.ts';
import { AppError } from '#server/platform/app-error.ts';
import { runWebhookChange, type WebhookTarget } from './run-webhook-change.ts';
import { endRotation, type WebhookRow } from './webhook-store.ts';

/**
 * Finishes a rotation: the next secret alone signs attempts that begin from now on (specification section 6.4).
 * @throws AppError 404; 409 where none runs
 */
export function finishRotation(
  services: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  target: WebhookTarget,
): Promise<WebhookRow> {
  return runWebhookChange(services, target, 'webhook.rotation_finished', async (trx, webhook) => {
    const ended = await endRotation(trx, webhook, services.clock.now());
    if (!ended) {
      throw new AppError(
        'conflict',
        'No rotation runs: it was finished, or its 24 hours are over. Begin one with POST …/rotate-secret.',
      );
    }
    return { result: ended, noted: {} };
  });
}
