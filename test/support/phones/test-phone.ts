import assert from 'node:assert/strict';
import { publicId } from '#server/platform/ids.ts';
import { findDeviceSession } from '#test/support/devices/stored-devices.ts';
import { httpRequest } from '#test/support/http/http-request.ts';
import { type ApiClient, field } from '#test/support/service/api-client.ts';
import type { TestService, TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

export type FlatAnswer = Readonly<Record<string, string>>;

/** Asserts that a poll was answered with `unavailable`, and a wait of 5 to 20 s. */
export function assertUnavailable(answer: unknown): void {
  const { wait = '', ...others } = answer as FlatAnswer;
  assert.deepEqual(others, { ok: '0', reason: 'unavailable' });
  assert.ok(Number(wait) >= 5 && Number(wait) <= 20, wait);
}

/** Makes single device calls, for tests that read single answers. SimulatedPhone is a whole phone. */
export class DeviceWire {
  readonly baseUrl: string;
  readonly token: string;
  session = 'new';

  constructor(baseUrl: string, token: string) {
    this.baseUrl = baseUrl;
    this.token = token;
  }

  async call(path: string, body: unknown, signal?: AbortSignal): Promise<FlatAnswer> {
    const { status, text } = await httpRequest(`${this.baseUrl}/v1/device/${path}`, {
      method: 'POST',
      headers: { 'x-device-token': this.token },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal,
    });
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
    return JSON.parse(text) as FlatAnswer;
  }

  /** Polls once in the current session, and takes over the session that the answer names. */
  async poll(fields: FlatAnswer = {}, signal?: AbortSignal): Promise<FlatAnswer> {
    const answer = await this.call(
      'poll',
      { session: this.session, last: 'none', device_name: 'Test iPhone', ...fields },
      signal,
    );
    if (answer.session !== undefined && answer.session !== 'none') this.session = answer.session;
    return answer;
  }
}

/** Polls until the phone is handed a message. @param last the message that the first poll reports as sent */
export async function takeMessage(wire: DeviceWire, last = 'none'): Promise<FlatAnswer> {
  let answer = await wire.poll({ last });
  await until('a message is handed out', async () => {
    if (answer.action !== 'send') answer = await wire.poll();
    return answer.action === 'send';
  });
  return answer;
}

export type ConnectedNumber = Awaited<ReturnType<typeof connectNumber>>;

let phones = 0;

/** A phone number that this test file has not used yet. */
export function newPhoneNumber(): string {
  phones += 1;
  return `+14155550${String(phones).padStart(3, '0')}`;
}

/** Claims the device token behind a setup link, as the page or the simulated phone does. */
export async function claim(api: ApiClient, setupUrl: string): Promise<DeviceWire> {
  const response = await fetch(`${api.baseUrl}/v1/device/claim`, {
    method: 'POST',
    body: JSON.stringify({ token: setupUrl.split('/').at(-1) }),
  });
  if (response.status !== 200)
    throw new Error(
      `the claim of the device token was answered ${response.status}: ${await response.text()}`,
    );
  const answer = (await response.json()) as FlatAnswer;
  return new DeviceWire(api.baseUrl, answer.device_token ?? '');
}

/**
 * Makes a verified number whose device has a session, without waiting for a whole held poll.
 * Its first poll is aborted as soon as it counts; the session comes from the database.
 */
export async function connectNumber(service: TestService, team: TestTeam, phoneNumber = newPhoneNumber()) {
  const verify = await team.api.post('/v1/numbers/verify', { phone_number: phoneNumber });
  if (verify.status !== 200)
    throw new Error(`POST /v1/numbers/verify was answered ${verify.status}: ${verify.text}`);
  const setupUrl = String(verify.json.setup_url);
  const wire = await connectPhone(service, team.api, phoneNumber, setupUrl);
  const number = await findNumber(team.api, phoneNumber);
  return { phoneNumber, numberId: String(field(number, 'id')), setupUrl, wire };
}

/** Connects a device with a setup link, as `connectNumber` does. */
export async function connectPhone(
  service: TestService,
  api: ApiClient,
  phoneNumber: string,
  setupUrl: string,
): Promise<DeviceWire> {
  const wire = await claim(api, setupUrl);
  const leaving = new AbortController();
  const first = wire.poll({}, leaving.signal).catch(() => undefined);
  const session = await until('the first poll counts', async () => {
    return (await findDeviceSession(service, phoneNumber))?.sessionId;
  });
  leaving.abort();
  await first;
  wire.session = publicId('ses', session);
  return wire;
}

export async function findNumber(
  api: ApiClient,
  phoneNumber: string,
): Promise<Record<string, unknown> | undefined> {
  const list = await api.get('/v1/numbers');
  const numbers = Array.isArray(list.json.numbers) ? list.json.numbers : [];
  return numbers.find((number) => field(number, 'phone_number') === phoneNumber);
}

/** Starts a poll and resolves once the server counts it as held. */
export async function heldPoll(
  service: TestService,
  number: ConnectedNumber,
  wire: DeviceWire = number.wire,
): Promise<{ answer: Promise<FlatAnswer>; leave: () => void; leaveNoticed: () => Promise<void> }> {
  const counted = async () => {
    const session = await findDeviceSession(service, number.phoneNumber);
    return session?.poll ?? 0;
  };
  const leaving = new AbortController();
  const before = await counted();
  const answer = wire.poll({}, leaving.signal);
  answer.catch(() => undefined);
  await until('the poll is counted', async () => (await counted()) > before);
  const leave = () => leaving.abort();
  // The poll may still get a message until the server has noticed that the phone disconnected.
  const leaveNoticed = async () => {
    leave();
    await until('the server noticed that the phone left', async () => {
      const session = await findDeviceSession(service, number.phoneNumber);
      return session?.hasLeft === true;
    });
  };
  return { answer, leave, leaveNoticed };
}
