import { randomBytes } from 'node:crypto';
import { type Queryable, query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { conflict } from '#server/platform/app-error.ts';
import type { Secrets } from '#server/platform/crypto.ts';
import type { WebhookId } from '#server/platform/ids.ts';
import { secretRotationMs } from '#server/webhooks/limits.ts';
import {
  endRotation,
  runWebhookChange,
  startRotation,
  type WebhookRow,
  type WebhookTarget,
} from './webhook-store.ts';

/** The sealed secrets of a webhook; `next_secret` is null without a rotation. */
export interface SealedSecrets {
  readonly secret: Buffer;
  readonly next_secret: Buffer | null;
  /**
   * From this time on attempts are signed with the next secret only, even before a statement makes it the current one.
   */
  readonly next_secret_from: Date | null;
}

export interface SigningSecrets {
  readonly current: string;
  /** The second secret that signs during a rotation; undefined otherwise. */
  readonly next: string | undefined;
}

/** Generates a Standard Webhooks secret: `whsec_` and 32 random bytes in base64 (specification section 6.4). */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/**
 * Seals a secret for the database. The sealed value is bound to its webhook, so that a secret of another row can't
 * replace it.
 */
export function sealSecret(secrets: Secrets, webhookId: WebhookId, secret: string): Buffer {
  return secrets.seal(purpose(webhookId), secret);
}

/** Opens the secrets that sign an attempt. @returns the secrets for an attempt that begins at `at` */
export function signingSecrets(
  secrets: Secrets,
  webhookId: WebhookId,
  { secret, next_secret, next_secret_from }: SealedSecrets,
  at: Date,
): SigningSecrets {
  const open = (sealed: Buffer) => secrets.open(purpose(webhookId), sealed);
  if (next_secret === null || next_secret_from === null) return { current: open(secret), next: undefined };
  if (next_secret_from <= at) return { current: open(next_secret), next: undefined };
  return { current: open(secret), next: open(next_secret) };
}

function purpose(webhookId: WebhookId): string {
  return `webhook ${webhookId}`;
}

const listSecrets = query<object, SealedSecrets & { readonly id: WebhookId }>(
  'webhooks.list-secrets',
  'SELECT id, secret, next_secret, next_secret_from FROM webhooks ORDER BY id',
).rows;

/**
 * Lists the webhooks whose secret can't be opened with SECRETS_KEY: their deliveries can't be signed.
 */
export async function listUnreadableWebhooks(
  db: Queryable,
  secrets: Secrets,
  at: Date,
): Promise<WebhookId[]> {
  const webhooks = await listSecrets(db);
  return webhooks.filter((webhook) => !opens(secrets, webhook, at)).map(({ id }) => id);
}

function opens(secrets: Secrets, webhook: SealedSecrets & { readonly id: WebhookId }, at: Date): boolean {
  try {
    signingSecrets(secrets, webhook.id, webhook, at);
    return true;
  } catch {
    return false;
  }
}

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
