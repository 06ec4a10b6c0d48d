import type { HomeNumber } from '#contract/home.ts';
import { counted } from '#web/kit/format.ts';

/** The API's count stops at 100, which means 100 or more. */
const waitingMax = 100;

/** A sentence such as `3 messages wait`; undefined for none. */
export function waitingText({ waiting_messages: waiting }: HomeNumber): string | undefined {
  if (waiting === 0) return undefined;
  if (waiting >= waitingMax) return `${waitingMax} or more messages wait`;
  return `${counted(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'}`;
}
