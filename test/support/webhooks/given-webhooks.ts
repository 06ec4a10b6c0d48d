import type { WebhookId } from '#server/platform/ids/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

type Service = Pick<TestService, 'query'>;

/** Sets a webhook's number of failed attempts in a row. */
export async function setFailureCount(
  { query }: Service,
  webhookId: WebhookId,
  failures: number,
): Promise<void> {
  one(
    await query('UPDATE webhooks SET failure_count = $2 WHERE id = $1 RETURNING id', [webhookId, failures]),
  );
}

/** Disables a webhook as its tenth failed attempt in a row does, without changing its deliveries. */
export async function disableByFailures(
  { query, clock }: Pick<TestService, 'query' | 'clock'>,
  webhookId: WebhookId,
): Promise<void> {
  one(
    await query(
      `UPDATE webhooks SET failure_count = 10, is_active = false, disabled_at = $2, disabled_by = 'failures'
       WHERE id = $1 RETURNING id`,
      [webhookId, clock.now()],
    ),
  );
}

function one(rows: readonly unknown[]): void {
  if (rows.length !== 1) throw new Error(`${rows.length} webhooks instead of one`);
}
