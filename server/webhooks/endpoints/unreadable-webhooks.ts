import { query } from '#server/database/query.ts';
import type { Queryable } from '#server/database/statement.ts';
import type { Secrets } from '#server/platform/crypto.ts';
import type { WebhookId } from '#server/platform/ids/ids.ts';
import { type SealedSecrets, signingSecrets } from './webhook-secret.ts';

const listSecrets = query<object, SealedSecrets & { readonly id: WebhookId }>(
  'webhooks.list-secrets',
  'SELECT id, secret, next_secret, next_secret_from FROM webhooks ORDER BY id',
).rows;

/**
 * Lists the webhooks whose secret can't be opened with SECRETS_KEY: their deliveries can't be signed (section 10.11).
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
