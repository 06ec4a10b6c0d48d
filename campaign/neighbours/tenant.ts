import { Api } from '../api.ts';
import type { Ownline } from '../ownline.ts';
import { connectPhone, createTeam, signIn } from '../set-up.ts';
import { type Caller, collectionOf, createValueOf } from './caller.ts';
import { Connection, jsonOf } from './connection.ts';
import { applyLoad } from './load.ts';
import type { Route } from './route-table.ts';
import type { KnownValues } from './schema.ts';

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

export class Tenant {
  readonly #ownline: Ownline;
  readonly #port: number;
  readonly #credentials: Credentials;
  readonly #api: Api;
  #ids: ReadonlyMap<string, string> = new Map();

  constructor(ownline: Ownline, credentials: Credentials, signal: AbortSignal) {
    this.#ownline = ownline;
    this.#port = Number(new URL(ownline.baseUrl).port);
    this.#credentials = credentials;
    this.#api = new Api(ownline.baseUrl, { 'x-api-key': credentials.apiKey }, signal);
  }

  get credentials(): Credentials {
    return this.#credentials;
  }

  get api(): Api {
    return this.#api;
  }

  /** Returns valid values for fields and parameters of the team's requests. @param hook URL of its webhooks */
  known(hook: string): KnownValues {
    const { from } = this.#credentials;
    return {
      ...{ from, to: contact, phone_number: from, url: hook, email: 'guest@example.com', role: 'viewer' },
      ...{
        status: 'active',
        wait: 0,
        since: '2026-01-01T00:00:00.000Z',
        media_url: null,
        until: '2027-01-01T00:00:00.000Z',
      },
    };
  }

  /** Returns the team's callers, one for each kind of credential. @param session index of the member's session */
  callers(known: KnownValues, session = 0): Caller[] {
    const { teamId, apiKey, deviceToken, sessions } = this.#credentials;
    const parameter = createValueOf(teamId, this.#ids);
    const caller = (kind: Caller['kind'], header: string): Caller => ({
      kind,
      isStranger: false,
      headers: [header],
      known,
      parameter,
    });
    return [
      caller('member', `cookie: ${sessions[session % sessions.length] ?? ''}`),
      caller('key', `x-api-key: ${apiKey}`),
      caller('phone', `x-device-token: ${deviceToken}`),
    ];
  }

  /** Signs the owner in again if a request ended the session. @returns whether it had ended */
  async restoreSession(index: number): Promise<boolean> {
    const { sessions, teamId } = this.#credentials;
    const headers = { cookie: sessions[index] ?? '' };
    const answer = await fetch(`${this.#ownline.baseUrl}/app/account`, { headers });
    await answer.arrayBuffer();
    if (answer.status !== 401) return false;
    sessions[index] = await signIn(this.#ownline, teamId);
    return true;
  }

  async restoreSessions(): Promise<void> {
    for (const index of this.#credentials.sessions.keys()) await this.restoreSession(index);
  }

  /** Finds an id for each path parameter, in the list of its collection. */
  async readIds(routes: readonly Route[]): Promise<void> {
    const ids = new Map<string, string>();
    this.#ids = ids;
    const collections = routes.flatMap(({ path, audience }) =>
      audience === 'api' || audience === 'team' || audience === 'account'
        ? [...path.matchAll(/:(\w+)/g)]
            .map(([, name = '']) => collectionOf(path, name))
            .filter((collection) => collection !== '/app/teams')
        : [],
    );
    // Shorter paths are read first, because their ids are needed in the longer paths.
    for (const collection of [...new Set(collections)].toSorted((a, b) => a.length - b.length)) {
      const route = routes.find(({ method, path }) => method === 'GET' && path === collection);
      const id = route && (await this.#firstId(route));
      if (id !== undefined) ids.set(collection, id);
    }
  }

  async #firstId(route: Route): Promise<string | undefined> {
    const caller = this.callers({}).find(({ kind }) => (kind === 'key') === (route.audience === 'api'));
    if (!caller) return undefined;
    const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => caller.parameter(route, name));
    const connection = await Connection.open({ port: this.#port });
    const head = [`GET ${path} HTTP/1.1`, `host: 127.0.0.1:${this.#port}`, ...caller.headers];
    const reply = await connection.ask(Buffer.from(`${head.join('\r\n')}\r\n\r\n`), 10_000);
    connection.close();
    const [items] = Object.values(jsonOf(reply) ?? {}).filter(Array.isArray);
    const id = Object.entries(items?.[0] ?? {}).find(([name]) => /^(\w+_)?id$/.test(name))?.[1];
    return typeof id === 'string' ? id : undefined;
  }

  sendRequest(content: string): Buffer {
    const { apiKey, from } = this.#credentials;
    return this.#post('/v1/messages/send', `x-api-key: ${apiKey}`, { from, to: contact, content });
  }

  cancelRequest(message: string): Buffer {
    return this.#post(`/v1/messages/${message}/cancel`, `x-api-key: ${this.#credentials.apiKey}`, {});
  }

  /** Stores messages and cancels some of them for the sake of their events. @returns ids of queued messages */
  async seed(messages: number, cancelled: number, signal: AbortSignal): Promise<string[]> {
    const ids: string[] = [];
    const stored = await applyLoad({
      port: this.#port,
      connections: 32,
      requests: messages,
      request: (index) => this.sendRequest(`Message ${index}`),
      onReply: (reply) => {
        const answer = jsonOf(reply);
        if (typeof answer === 'object' && answer !== null && 'id' in answer) ids.push(String(answer.id));
      },
      signal,
    });
    if (ids.length < messages) {
      const counts = [...stored.statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
      throw new Error(`The server accepted only ${ids.length} of ${messages} messages (${counts}).`);
    }
    const gone = ids.splice(0, cancelled);
    const request = (index: number) => this.cancelRequest(gone[index] ?? '');
    await applyLoad({ port: this.#port, connections: 8, requests: gone.length, request, signal });
    return ids;
  }

  async subscribe(count: number, url: string, signal: AbortSignal): Promise<void> {
    const header = `x-api-key: ${this.#credentials.apiKey}`;
    const request = () => this.#post('/v1/webhooks', header, { url, events: ['message.failed'] });
    const made = await applyLoad({ port: this.#port, connections: 16, requests: count, request, signal });
    if (made.statuses.get(201) !== count) throw new Error(`The server did not create all ${count} webhooks.`);
  }

  #post(path: string, header: string, body: unknown): Buffer {
    const json = JSON.stringify(body);
    const head = [
      ...[`POST ${path} HTTP/1.1`, `host: 127.0.0.1:${this.#port}`, header],
      ...['content-type: application/json', `content-length: ${Buffer.byteLength(json)}`],
    ];
    return Buffer.from(`${head.join('\r\n')}\r\n\r\n${json}`);
  }
}

/** Creates a team by the command line, with a verified number and a signed-in owner. */
export async function makeTenant(
  ownline: Ownline,
  { name, from }: { readonly name: string; readonly from: string },
  signal: AbortSignal,
): Promise<Tenant> {
  const { team: teamId, apiKey } = await createTeam(ownline, name);
  const sessions: string[] = [];
  while (sessions.length < sessionsEach) sessions.push(await signIn(ownline, teamId));
  const deviceToken = await connectPhone(ownline.baseUrl, apiKey, from, signal);
  return new Tenant(ownline, { teamId, apiKey, deviceToken, from, sessions }, signal);
}
