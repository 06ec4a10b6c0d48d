import type { Secrets } from '#server/platform/crypto.ts';
import type { WebhookId } from '#server/platform/ids/ids.ts';
import {
  type SealedSecrets,
  type SigningSecrets,
  signingSecrets,
} from '#server/webhooks/endpoints/webhook-secret.ts';

export type OpenSecrets = (
  webhook: SealedSecrets & { readonly webhook_id: WebhookId },
  at: Date,
) => SigningSecrets;

const keptMax = 1_000;

/**
 * Opens sealed secrets once and caches them, because opening takes longer than signing. The cache is keyed by the
 * sealed bytes, so that a changed secret is used at once.
 */
export function createOpenSecrets(secrets: Secrets): OpenSecrets {
  const kept = new Map<string, SigningSecrets>();
  return (webhook, at) => {
    const { secret, next_secret, next_secret_from } = webhook;
    const isRotated = next_secret_from !== null && next_secret_from <= at;
    const key = [secret, next_secret].map((sealed) => sealed?.toString('latin1')).join(isRotated ? '>' : '|');
    const known = kept.get(key);
    if (known) return known;
    const opened = signingSecrets(secrets, webhook.webhook_id, webhook, at);
    if (kept.size >= keptMax) kept.clear();
    kept.set(key, opened);
    return opened;
  };
}
