import { randomBytes } from 'node:crypto';
import type { Secrets } from '#server/platform/crypto.ts';
import type { WebhookId } from '#server/platform/ids/ids.ts';

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
