import type { Route } from './route-table.ts';
import type { KnownValues } from './schema.ts';

export const callerKinds = ['no credential', 'wrong credential', 'member', 'key', 'phone'] as const;
export type CallerKind = (typeof callerKinds)[number];

/** A client of the service: its credential, and the values that its requests name. */
export interface Caller {
  readonly kind: CallerKind;
  readonly isStranger: boolean;
  /** The header with its credential. */
  readonly headers: readonly string[];
  /** Values of fields and parameters, by name. */
  readonly known: KnownValues;
  /** The value of a parameter of a route's path. */
  readonly parameter: (route: Route, name: string) => string;
}

/** The audiences whose routes a caller with a valid credential asks for. */
const audiencesOf: Readonly<Record<CallerKind, readonly string[] | undefined>> = {
  'no credential': undefined,
  'wrong credential': undefined,
  member: ['team', 'account', 'page', 'visitor'],
  key: ['api'],
  phone: ['device'],
};

/** Whether a caller's requests to a route are measured: a stranger's to every route. */
export function asks(caller: Caller, route: Route): boolean {
  return audiencesOf[caller.kind]?.includes(route.audience) ?? true;
}

/** Whether a stranger is refused before anything else is looked at. */
export function needsCredential({ audience }: Route): boolean {
  return audience === 'api' || audience === 'team' || audience === 'account';
}

/** Well-formed and of nothing: a token of a link, an id. */
const unknownToken = 'Q'.repeat(43);
const unknownId = '01h2xcejqtf2nbrexx3vqjhp41';

export interface WrongCredentials {
  /** A key that was revoked, so that it is well-formed. */
  readonly apiKey: string;
}

/** The two strangers. Every kind of wrong credential is sent at once: each route reads its own. */
export function strangers({ apiKey }: WrongCredentials, known: KnownValues): Caller[] {
  const parameter = (_route: Route, name: string) => (name === 'token' ? unknownToken : `x_${unknownId}`);
  return [
    { kind: 'no credential', isStranger: true, headers: [], known, parameter },
    {
      kind: 'wrong credential',
      isStranger: true,
      headers: [
        `x-api-key: ${apiKey}`,
        `x-device-token: dev_${unknownToken}`,
        `cookie: ownline=${unknownToken}`,
        `authorization: Bearer ${unknownToken}`,
      ],
      known,
      parameter,
    },
  ];
}

/** Finds the values of path parameters of a caller with a valid credential. */
export function createValueOf(teamId: string, ids: ReadonlyMap<string, string>): Caller['parameter'] {
  return (route, name) => {
    if (name === 'team_id') return teamId;
    if (name === 'token') return unknownToken;
    const id = ids.get(collectionOf(route.path, name)) ?? `x_${unknownId}`;
    // Nothing is deleted: of each id there is one that names nothing.
    return route.method === 'DELETE' ? `${id.slice(0, -6)}000000` : id;
  };
}

/** The path that lists what a parameter names: `/v1/webhooks` of `/v1/webhooks/:id/test`. */
export function collectionOf(path: string, name: string): string {
  return path.slice(0, path.indexOf(`/:${name}`));
}
