import type { WebhookId } from '#server/platform/ids.ts';
import type { SealedSecrets } from '#server/webhooks/endpoints/webhook-secret.ts';
import { onlyRowBy } from '#test/support/database/statement.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;
type Webhook = { readonly id: WebhookId };

interface WebhookState {
  readonly isActive: boolean;
  /** Number of failed attempts in a row. */
  readonly failureCount: number;
  readonly disabledBy: 'member' | 'failures' | null;
  readonly disabledAt: Date | null;
  readonly lastTriggeredAt: Date | null;
  /** Generation of the webhook: begins with 1, and grows when the webhook is enabled or gets a new url. */
  readonly generation: number;
}

export const stateOf = (service: Service, { id }: Webhook) => stateById(service, id);
const stateById = onlyRowBy<WebhookState, [id: WebhookId]>(
  `SELECT is_active AS "isActive", failure_count AS "failureCount", disabled_by AS "disabledBy",
     disabled_at AS "disabledAt", last_triggered_at AS "lastTriggeredAt", generation
   FROM webhooks WHERE id = $1`,
);

/** Stored secrets of a webhook, encrypted. */
export const sealedSecretsOf = (service: Service, { id }: Webhook) => sealedSecretsById(service, id);
const sealedSecretsById = onlyRowBy<SealedSecrets, [id: WebhookId]>(
  'SELECT secret, next_secret, next_secret_from FROM webhooks WHERE id = $1',
);
