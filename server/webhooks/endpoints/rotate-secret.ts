import type { Runtime } from '#server/database/runtime.ts';
import { conflict } from '#server/platform/app-error.ts';
import { secretRotationMs } from '#server/webhooks/limits.ts';
import { runWebhookChange, type WebhookTarget } from './run-webhook-change.ts';
import { newWebhookSecret, sealSecret } from './webhook-secret.ts';
import { endRotation, startRotation, type WebhookRow } from './webhook-store.ts';

/**
 * Begins a rotation: attempts are signed with both secrets until a member finishes the rotation, or for 24 hours.
 * @returns the next secret, which no other answer shows
 * @throws AppError 404; 409 during a rotation
 */
export function rotateSecret(
  services: Runtime,
  target: WebhookTarget,
): Promise<{ readonly secret: string; readonly takesOverAt: Date }> {
  return runWebhookChange(services, target, 'webhook.secret_rotated', async (trx) => {
    const secret = newWebhookSecret();
    const at = services.clock.now();
    const takesOverAt = services.clock.in(secretRotationMs, at);
    const sealedSecret = sealSecret(services.secrets, target.webhookId, secret);
    if (!(await startRotation(trx, { ...target, sealedSecret, takesOverAt, at }))) {
      throw conflict(
        'A rotation of this secret is already in progress. Finish it with POST /v1/webhooks/:id/rotate-secret/finish, then start another.',
      );
    }
    return { result: { secret, takesOverAt }, noted: {} };
  });
}

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
