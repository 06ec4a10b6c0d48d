import type { WebhookId } from '#server/platform/ids.ts';
import type { SealedSecrets } from '#server/webhooks/endpoints/webhook-secret.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

export interface WebhookState {
  readonly isActive: boolean;
  /** Number of failed attempts in a row. */
  readonly failureCount: number;
  readonly disabledBy: 'member' | 'failures' | null;
  readonly disabledAt: Date | null;
  readonly lastTriggeredAt: Date | null;
  /** Generation of the webhook: begins with 1, and grows when the webhook is enabled or gets a new url. */
  readonly generation: number;
}

export async function stateOf(
  { query }: Service,
  webhook: { readonly id: WebhookId },
): Promise<WebhookState> {
  const [state] = await query<WebhookState>(
    `SELECT is_active AS "isActive", failure_count AS "failureCount", disabled_by AS "disabledBy",
       disabled_at AS "disabledAt", last_triggered_at AS "lastTriggeredAt", generation
     FROM webhooks WHERE id = $1`,
    [webhook.id],
  );
  if (!state) throw new Error('the webhook does not exist');
  return state;
}

/** Stored secrets of a webhook, encrypted. */
export async function sealedSecretsOf(
  { query }: Service,
  webhook: { readonly id: WebhookId },
): Promise<SealedSecrets> {
  const [secrets] = await query<SealedSecrets>(
    'SELECT secret, next_secret, next_secret_from FROM webhooks WHERE id = $1',
    [webhook.id],
  );
  if (!secrets) throw new Error('the webhook does not exist');
  return secrets;
}
