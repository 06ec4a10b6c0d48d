import type { MessageEventType } from '#contract/event.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { appendEvents, type NewEvent } from '#server/events/append-events.ts';
import { type MessageId, type NumberId, publicId, type TeamId } from '#server/platform/ids.ts';
import { putMessagesOfEvents } from '#test/support/messages/given-messages.ts';

type MessageEvent = Extract<NewEvent, { readonly type: MessageEventType }>;

interface EventFields {
  readonly messageId?: MessageId;
  readonly numberId?: NumberId;
  readonly type?: MessageEventType;
  readonly sequence?: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Appends events of messages of one team, with the messages that do not exist. */
export async function appendWithMessages(
  trx: Transaction,
  runtime: Runtime,
  events: readonly MessageEvent[],
): Promise<void> {
  const [first] = events;
  if (first === undefined) return;
  await putMessagesOfEvents(
    trx,
    first.teamId,
    events.map((event) => event.messageId),
  );
  await appendEvents(trx, runtime, events);
}

/** Appends an event as a change of a message does, for tests that need no message. */
export function putEvent(
  trx: Transaction,
  runtime: Runtime,
  teamId: TeamId,
  fields: EventFields = {},
): Promise<void> {
  return appendWithMessages(trx, runtime, [newEvent(runtime, teamId, fields)]);
}

/** Appends `count` events, one after the other. */
export async function putEvents(runtime: Runtime, teamId: TeamId, count: number): Promise<void> {
  await runtime.database.transaction(async (trx) => {
    for (let n = 0; n < count; n += 1) await putEvent(trx, runtime, teamId);
  });
}

/** Appends `count` events by one statement. */
export async function putEventsAtOnce(runtime: Runtime, teamId: TeamId, count: number): Promise<void> {
  const events = Array.from({ length: count }, () => newEvent(runtime, teamId, {}));
  await runtime.database.transaction((trx) => appendWithMessages(trx, runtime, events));
}

function newEvent(
  { ids }: Runtime,
  teamId: TeamId,
  { messageId, numberId, type = 'message.sent', sequence = 1, data }: EventFields,
): MessageEvent {
  const id = messageId ?? ids.next('msg');
  return {
    teamId,
    numberId: numberId ?? ids.next('num'),
    messageId: id,
    type,
    sequence,
    data: data ?? sentData(id),
  };
}

/** `data` of message.sent, with a text that JSON has to escape. */
function sentData(id: MessageId): Readonly<Record<string, unknown>> {
  const at = '2026-11-21T09:30:00.000Z';
  return {
    ...{ id: publicId('msg', id), from: '+14155550100', to: '+14155550101' },
    ...{ content: 'Grüße 👋 \u2028 "\\', media_url: null },
    ...{ status: 'sent', created_at: at, sent_at: at },
  };
}
