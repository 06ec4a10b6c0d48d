import { randomBytes } from 'node:crypto';
import type { Secrets } from '#server/platform/crypto.ts';
import type { WebhookId } from '#server/platform/ids/ids.ts';

/** The sealed secrets of a webhook; without a rotation the second is null. */
export interface SealedSecrets {
  readonly secret: Buffer;
  readonly next_secret: Buffer | null;
  /** From then on the next secret alone signs, even if no statement has made it the current one yet. */
  readonly next_secret_from: Date | null;
}

export interface SigningSecrets {
  readonly current: string;
  /** While a rotation runs. */
  readonly next: string | undefined;
}

/** `whsec_` and the standard base64 of 32 random bytes, the form of Standard Webhooks (specification section 6.4). */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** The sealed secret for the database, bound to its webhook: another row's secret cannot replace it. */
export function sealSecret(secrets: Secrets, webhookId: WebhookId, secret: string): Buffer {
  return secrets.seal(purpose(webhookId), secret);
}

/** The secrets that sign a delivery which begins at `at`. */
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
