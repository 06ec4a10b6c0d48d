import { Api, itemsOf } from '../api.ts';
import type { Ownline } from '../ownline.ts';

const from = '+14155550110';
const pending = '+14155550111';
const to = '+14155550150';
const invited = 'sam@example.com';
const owner = 'owner@example.com';

/** A team with one item of each kind that expires, none of them soon. `missing` checks that all items still exist. */
export class Keeper {
  readonly #baseUrl: string;
  readonly #api: Api;
  readonly #message: string;
  readonly #setupPath: string;
  readonly #cookie: string;

  private constructor(
    baseUrl: string,
    api: Api,
    made: readonly [message: string, setupPath: string, cookie: string],
  ) {
    this.#baseUrl = baseUrl;
    this.#api = api;
    [this.#message, this.#setupPath, this.#cookie] = made;
  }

  static async open(ownline: Ownline, over: AbortSignal): Promise<Keeper> {
    const { team, key } = await newTeam(ownline, 'Keeper', 'enterprise');
    const api = new Api(ownline.baseUrl, { 'x-api-key': key }, over);
    const verify = (phone_number: string) =>
      api.insist({ method: 'POST', path: '/v1/numbers/verify', body: { phone_number } });
    const { json } = await verify(from);
    await connectOnce(ownline.baseUrl, String(json.setup_url), over);
    const setup = await verify(pending);
    const sent = await api.insist(message);
    if (sent.status !== 202) throw new Error(`A send was answered ${sent.status}: ${sent.text}`);
    await api.insist({
      method: 'POST',
      path: '/v1/team/members/invite',
      body: { email: invited, role: 'viewer' },
    });
    const link = await ownline.command('link', '--email', owner, '--team', team);
    const cookie = await join(String(link.url), ownline.baseUrl);
    return new Keeper(ownline.baseUrl, api, [
      String(sent.json.id),
      new URL(String(setup.json.setup_url)).pathname,
      cookie,
    ]);
  }

  /** Reads all items again. @returns those that expired or changed */
  async missing(): Promise<string[]> {
    const found = await this.#api.get(`/v1/messages/${this.#message}`);
    const again = await this.#api.insist(message);
    const numbers = itemsOf(await this.#api.get('/v1/numbers'), 'numbers');
    const invitations = itemsOf(await this.#api.get('/v1/team/invitations'), 'invitations');
    const pageStatus = await this.#statusOf(this.#setupPath);
    const accountStatus = await this.#statusOf('/app/account');
    return [
      found.status === 'queued' ? [] : [`the queued message is ${found.status}`],
      again.json.id === this.#message ? [] : ['the Idempotency-Key is forgotten'],
      numbers.some((number) => number.phone_number === pending) ? [] : ['the pending number is gone'],
      invitations.some(({ email }) => email === invited) ? [] : ['the invitation is over'],
      pageStatus === 200 ? [] : [`the setup link is answered ${pageStatus}`],
      accountStatus === 200 ? [] : [`the session is answered ${accountStatus}`],
    ].flat();
  }

  async #statusOf(path: string): Promise<number> {
    const headers = { cookie: this.#cookie, 'sec-fetch-site': 'same-origin' };
    const answer = await fetch(`${this.#baseUrl}${path}`, { headers });
    await answer.arrayBuffer();
    return answer.status;
  }
}

const message = {
  method: 'POST',
  path: '/v1/messages/send',
  body: { from, to, content: 'It waits for a phone that is away.' },
  headers: { 'idempotency-key': 'kept' },
} as const;

export async function newTeam(
  ownline: Ownline,
  name: string,
  plan: string,
): Promise<{ readonly team: string; readonly key: string }> {
  const team = String((await ownline.command('team', 'create', '--name', name, '--plan', plan)).id);
  const key = await ownline.command(
    'key',
    'create',
    '--team',
    team,
    '--name',
    'Campaign',
    '--permissions',
    '*',
  );
  return { team, key: String(key.key) };
}

/** Polls once as a phone, which verifies its number. The phone never polls again. */
async function connectOnce(baseUrl: string, setupUrl: string, over: AbortSignal): Promise<void> {
  const api = new Api(baseUrl, {}, over);
  const body = { token: setupUrl.split('/').at(-1) };
  const claim = await api.insist({ method: 'POST', path: '/v1/device/claim', body });
  const headers = { 'x-device-token': String(claim.json.device_token) };
  const poll = { session: 'new', last: 'none', device_name: 'Campaign iPhone', os: '26.0', v: '1' };
  await api.insist({ method: 'POST', path: '/v1/device/poll', body: poll, headers });
}

/** Joins a team by an owner link. @returns the Cookie header of the session */
async function join(url: string, baseUrl: string): Promise<string> {
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin', origin: baseUrl },
    body: new URLSearchParams({ press: 'campaign', email: owner, name: 'Olivia Owner' }),
  });
  const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
  if (answer.status !== 303 || cookies.length === 0)
    throw new Error(`The owner's link was answered ${answer.status}: ${await answer.text()}`);
  return cookies.join('; ');
}
