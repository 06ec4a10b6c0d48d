import type { Runtime } from '#server/database/runtime.ts';
import { conflict } from '#server/platform/app-error.ts';
import { runWebhookChange, type WebhookTarget } from './run-webhook-change.ts';
import { endRotation, type WebhookRow } from './webhook-store.ts';

/**
 * Finishes a rotation: attempts that begin from now on are signed with the next secret only (specification section
 * 6.4).
 * @throws AppError 404; 409 without a running rotation
 */
export function finishRotation(services: Runtime, target: WebhookTarget): Promise<WebhookRow> {
  return runWebhookChange(services, target, 'webhook.rotation_finished', async (trx) => {
    const ended = await endRotation(trx, { ...target, at: services.clock.now() });
    if (!ended) {
      throw conflict(
        'No rotation of the secret is in progress: it was finished, or its 24 hours are over. Start one with POST /v1/webhooks/:id/rotate-secret.',
      );
    }
    return { result: ended, noted: {} };
  });
}
