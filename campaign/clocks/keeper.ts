import { Api, itemsOf } from '../api.ts';
import type { Ownline } from '../ownline.ts';
import { claimDevice, createTeam, signIn } from '../set-up.ts';

const from = '+14155550110';
const pending = '+14155550111';
const to = '+14155550150';
const invited = 'sam@example.com';

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
    const { team, apiKey } = await createTeam(ownline, 'Keeper', '--plan', 'enterprise');
    const api = new Api(ownline.baseUrl, { 'x-api-key': apiKey }, over);
    // The phone polls once, which verifies its number, and never again.
    const phone = new Api(ownline.baseUrl, { 'x-device-token': await claimDevice(api, from) }, over);
    await phone.insist({ method: 'POST', path: '/v1/device/poll', body: { session: 'new', v: '1' } });
    const body = { phone_number: pending };
    const setup = await api.insist({ method: 'POST', path: '/v1/numbers/verify', body });
    const sent = await api.insist(message);
    if (sent.status !== 202) throw new Error(`A send was answered ${sent.status}: ${sent.text}`);
    await api.insist({
      method: 'POST',
      path: '/v1/team/members/invite',
      body: { email: invited, role: 'viewer' },
    });
    const cookie = await signIn(ownline, team);
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
