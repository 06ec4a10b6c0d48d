import type { EventType } from '#contract/event.ts';
import type { DeliveryStatus } from '#contract/webhook.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { appendEvents } from '#server/events/append-events.ts';
import type { EventId, MessageId, NumberId, TeamId, WebhookId } from '#server/platform/ids/ids.ts';
import type { OutboundHttpOptions } from '#server/platform/outbound-http/outbound-http.ts';
import { newWebhookSecret, sealSecret } from '#server/webhooks/endpoints/webhook-secret.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

export interface TestWebhook {
  readonly id: WebhookId;
  readonly teamId: TeamId;
  readonly secret: string;
}

export interface AttemptRow {
  readonly id: string;
  readonly delivery_id: string;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly outcome: string;
  readonly status_code: number | null;
  readonly url: string;
  readonly response_body: Buffer | null;
  readonly response_truncated: boolean;
  readonly is_counted: boolean;
}

export interface DeliveryRow {
  readonly id: string;
  readonly event_id: string;
  readonly status: DeliveryStatus;
  readonly attempt_count: number;
  readonly created_at: Date;
  readonly finished_at: Date | null;
}

export interface WebhookState {
  readonly is_active: boolean;
  readonly failure_count: number;
  readonly disabled_by: string | null;
  readonly last_triggered_at: Date | null;
  readonly generation: number;
}

/** An Ownline whose webhooks may lead to this machine. */
export function startWebhooking(
  settings: Readonly<Record<string, string>> = {},
  outbound: Partial<OutboundHttpOptions> = {},
): Promise<TestService> {
  return startTestService({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8', ...settings }, outbound);
}

export async function addWebhook(
  { database, clock, ids, secrets }: Pick<Runtime, 'database' | 'clock' | 'ids' | 'secrets'>,
  teamId: TeamId,
  url: string,
): Promise<TestWebhook> {
  const id = ids.next('wh');
  const secret = newWebhookSecret();
  await database.pool.query(
    `INSERT INTO webhooks (team_id, id, url, events, secret, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
    [teamId, id, url, ['message.sent', 'message.received'], sealSecret(secrets, id, secret), clock.now()],
  );
  return { id, teamId, secret };
}

/** Events of a team, all in one commit, as a change of messages writes them. */
export function emit(
  { database, clock, ids }: Pick<Runtime, 'database' | 'clock' | 'ids'>,
  teamId: TeamId,
  contents: readonly string[],
  type: EventType = 'message.sent',
): Promise<void> {
  return database.transaction((trx) =>
    appendEvents(
      trx,
      { clock, ids },
      contents.map((content) => ({
        teamId,
        numberId: ids.next('num') as NumberId,
        messageId: ids.next('msg') as MessageId,
        type,
        sequence: 1,
        data: { content },
      })),
    ),
  );
}

export function attemptsOf({ query }: TestService, webhook: TestWebhook): Promise<AttemptRow[]> {
  return query<AttemptRow>('SELECT * FROM attempts WHERE webhook_id = $1 ORDER BY id', [webhook.id]);
}

export function deliveriesOf({ query }: TestService, webhook: TestWebhook): Promise<DeliveryRow[]> {
  return query<DeliveryRow>('SELECT * FROM deliveries WHERE webhook_id = $1 ORDER BY id', [webhook.id]);
}

export async function stateOf({ query }: TestService, webhook: TestWebhook): Promise<WebhookState> {
  const [row] = await query<WebhookState>('SELECT * FROM webhooks WHERE id = $1', [webhook.id]);
  if (!row) throw new Error('no such webhook');
  return row;
}

/** Resolves once nothing of the webhook waits or runs. */
export function settled({ query }: TestService, webhook: TestWebhook): Promise<unknown> {
  return until('everything is delivered or given up', async () => {
    const rows = await query('SELECT FROM due_deliveries WHERE webhook_id = $1 LIMIT 1', [webhook.id]);
    return rows.length === 0;
  });
}

/** The id of the event that a delivery carried. */
export function eventIdOf(body: Buffer): EventId {
  return JSON.parse(body.toString('utf8')).id;
}
