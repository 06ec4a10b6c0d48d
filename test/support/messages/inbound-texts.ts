import assert from 'node:assert/strict';
import type { Runtime } from '#server/database/runtime.ts';
import type { ReceiveBatcher } from '#server/messages/receive-batcher.ts';
import { type Inbound, receiveMessage } from '#server/messages/receive-message.ts';
import type { TextOutcome } from '#server/messages/receive-texts.ts';
import { findNumber } from '#server/numbers/number-store.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { OneOfMany } from '#test/support/phones/many-phones.ts';
import type { TestService } from '#test/support/service/test-service.ts';
import { storedMessages } from './stored-messages.ts';

export const contactAt = (index: number): string => `+1212556${String(index).padStart(4, '0')}`;

/**
 * PostgreSQL looks for a deadlock once a lock has waited for this long, its default of deadlock_timeout. Texts of other
 * phones wait for locks only for a small part of that.
 */
export const deadlockCheckMs = 1_000;

export function inboundOf(from: string, text: string, more: Partial<Inbound> = {}): Inbound {
  return {
    ...{ from, text, recipients: undefined, deviceGivenId: undefined, run: undefined, media: undefined },
    ...more,
  };
}

/** Stores a text in a transaction of its own. */
export async function receiveAlone(
  runtime: Runtime,
  { caller }: OneOfMany,
  inbound: Inbound,
): Promise<TextOutcome> {
  const number = await findNumber(runtime.database.pool, caller.teamId, caller.numberId);
  assert.ok(number);
  const { id } = await receiveMessage(runtime, number, inbound);
  return { kind: 'received', id, receivedTests: [] };
}

/** Delivers a text through a batcher. @returns the public id of its message, or why its device may deliver none */
export async function deliverText(
  runtime: Runtime,
  batcher: ReceiveBatcher,
  phone: OneOfMany,
  inbound: Inbound,
): Promise<string> {
  const outcome = await batcher.receive({ device: phone.caller, inbound }, () =>
    receiveAlone(runtime, phone, inbound),
  );
  return outcome.kind === 'received' ? publicId('msg', outcome.id) : outcome.reason;
}

/** The stored texts of a number, as `sender text`, in the order of their ids. */
export async function textsOf(service: Pick<TestService, 'query'>, { number }: OneOfMany): Promise<string[]> {
  const stored = await storedMessages(service, { to: number.phoneNumber });
  return stored.map(({ from, content }) => `${from} ${content}`);
}
