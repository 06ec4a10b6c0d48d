import { setTimeout as pause } from 'node:timers/promises';
import { Api, itemsOf } from './api.ts';
import type { Ownline } from './ownline.ts';

type Commands = Pick<Ownline, 'command'>;

/** Creates a team with an API key that may do everything. */
export async function createTeam(
  ownline: Commands,
  name: string,
  ...options: string[]
): Promise<{ readonly team: string; readonly apiKey: string }> {
  const team = String((await ownline.command('team', 'create', '--name', name, ...options)).id);
  return { team, apiKey: (await createKey(ownline, team)).key };
}

/** Creates an API key that may do everything. */
export async function createKey(
  ownline: Commands,
  team: string,
): Promise<{ readonly id: string; readonly key: string }> {
  const words = ['--team', team, '--name', 'Campaign', '--permissions', '*'];
  const { id, key } = await ownline.command('key', 'create', ...words);
  return { id: String(id), key: String(key) };
}

/** Opens a link of the command line as the owner of a team would. @returns the Cookie header of the new session */
export async function signIn(ownline: Commands, team: string): Promise<string> {
  const words = ['--email', `owner-of-${team}@example.com`, '--team', team];
  const { url } = await ownline.command('link', ...words);
  const answer = await fetch(String(url), {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ name: 'Ada Example' }),
  });
  await answer.arrayBuffer();
  const cookie = answer.headers.getSetCookie().find((text) => /^(__Host-)?ownline=/.test(text));
  if (!cookie) throw new Error(`The owner link was answered ${answer.status} without a session cookie.`);
  return cookie.split(';')[0] ?? '';
}

/** Claims the device token of a number. @param api the HTTP client with an API key of the team */
export async function claimDevice(api: Api, number: string): Promise<string> {
  const verify = { method: 'POST', path: '/v1/numbers/verify', body: { phone_number: number } } as const;
  const { json } = await api.insist(verify);
  const body = { token: String(json.setup_url).split('/').at(-1) };
  const claim = await api.insist({ method: 'POST', path: '/v1/device/claim', body });
  return String(claim.json.device_token);
}

/** Verifies a number by a poll of its phone, which ends at once. @returns the device token */
export async function connectPhone(
  baseUrl: string,
  apiKey: string,
  number: string,
  signal: AbortSignal,
): Promise<string> {
  const api = new Api(baseUrl, { 'x-api-key': apiKey }, signal);
  const token = await claimDevice(api, number);
  const device = new Api(baseUrl, { 'x-device-token': token }, signal);
  const polled = new AbortController();
  const poll = { method: 'POST', path: '/v1/device/poll', body: { session: 'new', v: '1' } } as const;
  const held = device.call({ ...poll, signal: polled.signal }).catch(() => undefined);
  const isVerified = async () =>
    itemsOf(await api.get('/v1/numbers'), 'numbers').some((item) => item.verified === true);
  while (!(await isVerified())) await pause(100, undefined, { signal });
  polled.abort();
  await held;
  return token;
}
