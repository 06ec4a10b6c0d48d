import type { EventType } from '#contract/event.ts';
import { publicId, type TeamId, type WebhookId } from '#server/platform/ids/ids.ts';
import type { TestService } from '#test/support/service/test-service.ts';

interface WebhookOptions {
  readonly phoneNumber?: string;
  readonly isActive?: boolean;
  /** Reason why the webhook is disabled; undefined for an active one. */
  readonly disabledBy?: 'member' | 'failures';
  readonly failureCount?: number;
}

/** Inserts a webhook, whose URL is never called. */
export async function putWebhook(
  { runtime, query }: Pick<TestService, 'runtime' | 'query'>,
  teamId: TeamId,
  events: readonly EventType[],
  { phoneNumber, isActive = true, disabledBy = 'member', failureCount = 0 }: WebhookOptions = {},
): Promise<{ readonly id: WebhookId; readonly publicId: string }> {
  const id = runtime.ids.next('wh');
  const now = runtime.clock.now();
  await query(
    `INSERT INTO webhooks (team_id, id, url, events, phone_number, is_active, disabled_at, disabled_by, secret, created_at, failure_count)
     VALUES ($1, $2, 'https://hooks.example.com/', $3, $4, $5, $6, $7, 'none', $8, $9)`,
    [
      teamId,
      id,
      events,
      phoneNumber ?? null,
      isActive,
      isActive ? null : now,
      isActive ? null : disabledBy,
      now,
      failureCount,
    ],
  );
  return { id, publicId: publicId('wh', id) };
}
