import { DeviceWire } from '#test/support/phones/test-phone.ts';
import type { Load } from '../load.ts';
import { postJson } from '../load.ts';

/** Eight numbers of one team, among which the sends are spread. */
export const numbers = Array.from({ length: 8 }, (_, index) => `+1415555010${index}`);

export type Target = Pick<Load, 'origin' | 'request'>;

export function sends(origin: string, key: string): Target {
  const post = postJson(origin, '/v1/messages/send', { 'x-api-key': key });
  return { origin, request: (n) => post(send(n)) };
}

export function sendsWithKeys(origin: string, key: string): Target {
  const post = postJson(origin, '/v1/messages/send', { 'x-api-key': key });
  let sent = 0;
  return {
    origin,
    request: (n) => {
      sent += 1;
      return post(send(n), { 'idempotency-key': `bench-${sent}` });
    },
  };
}

const send = (n: number) => ({ from: numbers[n % numbers.length], to: contact(n), content: text(n) });

export const contact = (n: number) => `+1415555${String(1_000 + (n % 9_000))}`;
export const text = (n: number) => `Your appointment is on Tuesday at 10. Reply YES to confirm. #${n}`;

/** Verifies a number by one long poll. The poll is aborted, because the measurement has no phones. */
export async function connect(origin: string, key: string, phoneNumber: string): Promise<void> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const body = JSON.stringify({ phone_number: phoneNumber });
  const verify = await fetch(`${origin}/v1/numbers/verify`, { method: 'POST', headers, body });
  const { setup_url } = (await verify.json()) as { setup_url: string };
  const claim = await fetch(`${origin}/v1/device/claim`, {
    method: 'POST',
    body: JSON.stringify({ token: setup_url.split('/').at(-1) }),
  });
  const { device_token } = (await claim.json()) as { device_token: string };
  await new DeviceWire(origin, device_token).poll({}, AbortSignal.timeout(500)).catch(() => undefined);
}
