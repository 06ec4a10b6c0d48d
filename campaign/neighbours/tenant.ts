import { Api, itemsOf } from '../api.ts';
import { applyLoad, type Request } from '../http.ts';
import type { Ownline } from '../ownline.ts';
import { connectPhone, createTeam, signIn } from '../set-up.ts';
import { type Caller, collectionOf, fillParameter } from './caller.ts';
import type { Route } from './route-table.ts';
import type { KnownValues } from './schema.ts';
import { pathOf } from './shapes.ts';

const contact = '+14155550150';

const sessionsEach = 2;

interface Credentials {
  readonly teamId: string;
  readonly apiKey: string;
  readonly deviceToken: string;
  readonly from: string;
  /** Cookies of the owner, one per session. */
  readonly sessions: string[];
}

/** A team with a verified number, a key and a signed-in owner. */
export class Tenant {
  readonly credentials: Credentials;
  readonly api: Api;
  /** Valid values for fields and parameters of the team's requests. */
  readonly known: KnownValues;
  readonly #ownline: Ownline;
  readonly #signal: AbortSignal;
  #ids: ReadonlyMap<string, string> = new Map();

  private constructor(ownline: Ownline, credentials: Credentials, hook: string, signal: AbortSignal) {
    this.#ownline = ownline;
    this.#signal = signal;
    this.credentials = credentials;
    this.api = new Api(ownline.baseUrl, { 'x-api-key': credentials.apiKey }, signal);
    const { from } = credentials;
    this.known = {
      ...{ from, to: contact, phone_number: from, url: hook, email: 'guest@example.com', role: 'viewer' },
      ...{ status: 'active', wait: 0, media_url: null },
      ...{ since: '2026-01-01T00:00:00.000Z', until: '2027-01-01T00:00:00.000Z' },
    };
  }

  /** Creates a team by the command line. @param hook URL of its webhooks */
  static async make(
    ownline: Ownline,
    { name, from, hook }: Readonly<Record<'name' | 'from' | 'hook', string>>,
    signal: AbortSignal,
  ): Promise<Tenant> {
    const { team: teamId, apiKey } = await createTeam(ownline, name);
    const sessions: string[] = [];
    while (sessions.length < sessionsEach) sessions.push(await signIn(ownline, teamId));
    const deviceToken = await connectPhone(ownline.baseUrl, apiKey, from, signal);
    return new Tenant(ownline, { teamId, apiKey, deviceToken, from, sessions }, hook, signal);
  }

  /** Returns the team's callers, one for each kind of credential. @param session index of the member's session */
  callers(session = 0): Caller[] {
    const { teamId, apiKey, deviceToken, sessions } = this.credentials;
    const shared = {
      isStranger: false,
      known: this.known,
      parameter: (route: Route, name: string) => fillParameter(teamId, this.#ids, route, name),
    };
    return [
      { kind: 'member', headers: { cookie: sessions[session] ?? '' }, ...shared },
      { kind: 'key', headers: { 'x-api-key': apiKey }, ...shared },
      { kind: 'phone', headers: { 'x-device-token': deviceToken }, ...shared },
    ];
  }

  /** Signs the owner in again if a request ended a session. @returns whether one had ended */
  async restoreSessions(): Promise<boolean> {
    const { sessions, teamId } = this.credentials;
    let hadEnded = false;
    for (const [index, cookie] of sessions.entries()) {
      const answer = await fetch(`${this.#ownline.baseUrl}/app/account`, { headers: { cookie } });
      await answer.arrayBuffer();
      if (answer.status !== 401) continue;
      sessions[index] = await signIn(this.#ownline, teamId);
      hadEnded = true;
    }
    return hadEnded;
  }

  /** Finds an id for each path parameter, in the list of its collection. */
  async readIds(routes: readonly Route[]): Promise<void> {
    const ids = new Map<string, string>();
    this.#ids = ids;
    const [member, key] = this.callers();
    for (const audience of ['api', 'team', 'account']) {
      const own = routes.filter((route) => route.audience === audience);
      const collections = own.flatMap(({ path }) =>
        [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => collectionOf(path, name)),
      );
      const lists = own.filter(({ method, path }) => method === 'GET' && collections.includes(path));
      const caller = audience === 'api' ? key : member;
      const api = new Api(this.#ownline.baseUrl, caller?.headers ?? {}, this.#signal);
      // Shorter paths are read first, because their ids are needed in the longer paths.
      for (const list of lists.toSorted((a, b) => a.path.length - b.path.length)) {
        const path = pathOf(list.path, (name) => caller?.parameter(list, name) ?? '');
        const { json } = await api.insist({ method: 'GET', path });
        const [items] = Object.values(json).filter(Array.isArray);
        const [, id] = Object.entries(items?.[0] ?? {}).find(([name]) => /^(\w+_)?id$/.test(name)) ?? [];
        if (typeof id === 'string') ids.set(list.path, id);
      }
    }
  }

  send(content: string): Request {
    return this.#post('/v1/messages/send', { from: this.credentials.from, to: contact, content });
  }

  cancel(message: string): Request {
    return this.#post(`/v1/messages/${message}/cancel`, {});
  }

  /** Stores messages and cancels some of them for the sake of their events. @returns ids of queued messages */
  async seed(messages: number, cancelled: number): Promise<string[]> {
    const ids: string[] = [];
    await this.#load(
      messages,
      202,
      (index) => this.send(`Message ${index}`),
      (id) => ids.push(id),
    );
    const gone = ids.splice(0, cancelled);
    await this.#load(cancelled, 200, (index) => this.cancel(gone[index] ?? ''));
    return ids;
  }

  async subscribe(count: number): Promise<void> {
    const body = { url: this.known.url, events: ['message.failed'] };
    await this.#load(count, 201, () => this.#post('/v1/webhooks', body));
  }

  /** The position behind the newest event of the feed. */
  async newestEvent(): Promise<string> {
    for (let after = ''; ; ) {
      const page = await this.api.get(`/v1/events?limit=100${after === '' ? '' : `&after=${after}`}`);
      after = String(itemsOf(page, 'events').at(-1)?.id ?? after);
      if (page.has_more !== true) return after;
    }
  }

  /** @throws if a request has another status */
  async #load(
    requests: number,
    status: number,
    request: (index: number) => Request,
    onId?: (id: string) => void,
  ): Promise<void> {
    const statuses = await applyLoad({
      ...{ port: this.#ownline.port, connections: 16, requests, request, signal: this.#signal },
      onReply: ({ body }) => onId?.(String(JSON.parse(body.toString()).id)),
    });
    if (requests > 0 && statuses.get(status) !== requests)
      throw new Error(`Not all ${requests} requests were answered ${status}: ${[...statuses].join('; ')}`);
  }

  #post(path: string, json: unknown): Request {
    const headers = { 'x-api-key': this.credentials.apiKey, 'content-type': 'application/json' };
    return { method: 'POST', path, headers, body: Buffer.from(JSON.stringify(json)) };
  }
}
