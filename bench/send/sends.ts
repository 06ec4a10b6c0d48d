import { DeviceWire } from '#test/support/phones/test-phone.ts';
import { claimDevices } from '../life/connect-phones.ts';
import { type Load, postJson } from '../load.ts';

/** Eight numbers of one team, among which the sends are spread. */
export const numbers = Array.from({ length: 8 }, (_, index) => `+1415555010${index}`);

export type Target = Pick<Load, 'origin' | 'request'>;

export function sends(origin: string, key: string): Target {
  const post = postJson(origin, '/v1/messages/send', { 'x-api-key': key });
  return { origin, request: (n) => post(send(n)) };
}

let keys = 0;

/** Sends with an Idempotency-Key each. */
export function sendsWithKeys(origin: string, key: string): Target {
  const post = postJson(origin, '/v1/messages/send', { 'x-api-key': key });
  const request = (n: number) => {
    keys += 1;
    return post(send(n), { 'idempotency-key': `bench-${keys}` });
  };
  return { origin, request };
}

const send = (n: number) => ({ from: numbers[n % numbers.length], to: contact(n), content: text(n) });

export const contact = (n: number) => `+1415555${String(1_000 + (n % 9_000))}`;
export const text = (n: number) => `Your appointment is on Tuesday at 10. Reply YES to confirm. #${n}`;

/** Verifies the numbers by a poll each. The polls are aborted, because the measurement has no phones. */
export async function connect(origin: string, key: string): Promise<void> {
  for (const token of await claimDevices(origin, key, numbers))
    await new DeviceWire(origin, token).poll({}, AbortSignal.timeout(500)).catch(() => undefined);
}
