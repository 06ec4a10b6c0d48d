import type { Route } from './route-table.ts';
import type { KnownValues } from './schema.ts';

export const callerKinds = ['no credential', 'wrong credential', 'member', 'key', 'phone'] as const;
export type CallerKind = (typeof callerKinds)[number];

/** A client of the service: its credential, and the values that its requests contain. */
export interface Caller {
  readonly kind: CallerKind;
  readonly isStranger: boolean;
  readonly headers: readonly string[];
  /** Values of fields and parameters, by name. */
  readonly known: KnownValues;
  readonly parameter: (route: Route, name: string) => string;
}

/** The audiences whose routes are measured for each kind of caller; undefined means all. */
const audiencesOf: Readonly<Record<CallerKind, readonly string[] | undefined>> = {
  'no credential': undefined,
  'wrong credential': undefined,
  member: ['team', 'account', 'page', 'visitor'],
  key: ['api'],
  phone: ['device'],
};

export function asks(caller: Caller, route: Route): boolean {
  return audiencesOf[caller.kind]?.includes(route.audience) ?? true;
}

/** Whether a route checks the credential before it reads anything else. */
export function needsCredential({ audience }: Route): boolean {
  return audience === 'api' || audience === 'team' || audience === 'account';
}

/** A link token and an id that are well-formed and do not exist. */
const unknownToken = 'Q'.repeat(43);
const unknownId = '01h2xcejqtf2nbrexx3vqjhp41';

export interface WrongCredentials {
  /** A key that was revoked. It is well-formed, so the service has to look it up. */
  readonly apiKey: string;
}

/**
 * The two strangers: one without a credential, and one with every kind of wrong credential, because each route reads a
 * different kind.
 */
export function strangers({ apiKey }: WrongCredentials, known: KnownValues): Caller[] {
  const parameter = (_route: Route, name: string) => (name === 'token' ? unknownToken : `x_${unknownId}`);
  return [
    { kind: 'no credential', isStranger: true, headers: [], known, parameter },
    {
      kind: 'wrong credential',
      isStranger: true,
      headers: [
        `x-api-key: ${apiKey}`,
        `x-device-token: dev_a1b2${unknownToken}`,
        `cookie: ownline=${unknownToken}`,
        `authorization: Bearer ${unknownToken}`,
      ],
      known,
      parameter,
    },
  ];
}

/** Returns a function that fills path parameters for a caller with a valid credential. */
export function createValueOf(teamId: string, ids: ReadonlyMap<string, string>): Caller['parameter'] {
  return (route, name) => {
    if (name === 'team_id') return teamId;
    if (name === 'token') return unknownToken;
    const id = ids.get(collectionOf(route.path, name)) ?? `x_${unknownId}`;
    // The id of a DELETE is changed to one that does not exist, so that nothing is deleted.
    return route.method === 'DELETE' ? `${id.slice(0, -6)}000000` : id;
  };
}

/** The path of the list that a parameter's ids are in: `/v1/webhooks` for `/v1/webhooks/:id/test`. */
export function collectionOf(path: string, name: string): string {
  return path.slice(0, path.indexOf(`/:${name}`));
}
