import type { Runtime } from '#server/database/runtime.ts';
import { failMessagesOfNumber } from '#server/messages/sweep-messages.ts';
import type { NumberRemoved } from '#server/numbers/delete-number.ts';

/*
 * Effects to the left: what happens in the transaction of a slice that knows nothing of it. The server and the command
 * line take the same lists.
 */

export function whenNumberRemoved(services: Pick<Runtime, 'clock' | 'ids'>): NumberRemoved[] {
  return [(trx, number) => failMessagesOfNumber(services, trx, number)];
}
