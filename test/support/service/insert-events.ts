import type { MessageEventType } from '#contract/event.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { appendEvents } from '#server/events/append-events.ts';
import type { MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';

interface Told {
  readonly messageId?: MessageId;
  readonly numberId?: NumberId;
  readonly type?: MessageEventType;
  readonly sequence?: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Writes an event as a change of a message does, for tests that need no message. */
export function putEvent(
  trx: Transaction,
  runtime: Runtime,
  teamId: TeamId,
  { messageId, numberId, type = 'message.sent', sequence = 1, data }: Told = {},
): Promise<void> {
  return appendEvents(trx, runtime, [
    {
      teamId,
      numberId: numberId ?? runtime.ids.next('num'),
      messageId: messageId ?? runtime.ids.next('msg'),
      type,
      sequence,
      data: data ?? { content: 'Grüße 👋 \u2028 "\\' },
    },
  ]);
}

/** As many events, one after the other. */
export async function putEvents(runtime: Runtime, teamId: TeamId, count: number): Promise<void> {
  await runtime.database.transaction(async (trx) => {
    for (let n = 0; n < count; n += 1) await putEvent(trx, runtime, teamId);
  });
}
