import type { MessageEventType } from '#contract/event.ts';
import { eventExamples } from '#contract/event-examples.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { EventId, TeamId, WebhookId } from '#server/platform/ids.ts';
import type { OutboundHttpOptions } from '#server/platform/outbound-http/outbound-http.ts';
import { newWebhookSecret, sealSecret } from '#server/webhooks/endpoints/webhook-secret.ts';
import { given } from '#test/support/service/given.ts';
import { appendWithMessages } from '#test/support/service/insert-events.ts';
import { startTestService, type TestService } from '#test/support/service/test-service.ts';

export interface TestWebhook {
  readonly id: WebhookId;
  readonly teamId: TeamId;
  readonly secret: string;
}

/** A service whose webhooks may reach this machine. */
export function startWebhooking(
  settings: Readonly<Record<string, string>> = {},
  outbound: Partial<OutboundHttpOptions> = {},
): Promise<TestService> {
  return startTestService({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8', ...settings }, outbound);
}

/** A service whose webhooks may reach this machine, for a suite. */
export function givenWebhookService(...options: Parameters<typeof startWebhooking>): TestService {
  return given(() => startWebhooking(...options));
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

/** Appends events of a team in one commit, as a change of messages does. */
export function emit(
  runtime: Runtime,
  teamId: TeamId,
  contents: readonly string[],
  type: MessageEventType = 'message.sent',
): Promise<void> {
  const { database, ids } = runtime;
  const events = contents.map((content) => ({
    teamId,
    numberId: ids.next('num'),
    messageId: ids.next('msg'),
    type,
    sequence: 1,
    data: { ...eventExamples[type].data, content },
  }));
  return database.transaction((trx) => appendWithMessages(trx, runtime, events));
}

/** Id of the event in a delivery's body. */
export function eventIdOf(body: Buffer): EventId {
  return JSON.parse(body.toString('utf8')).id;
}
