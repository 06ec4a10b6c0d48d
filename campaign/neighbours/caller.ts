import type { Route } from './route-table.ts';
import type { KnownValues } from './schema.ts';

export const callerKinds = ['no credential', 'wrong credential', 'member', 'key', 'phone'] as const;
export type CallerKind = (typeof callerKinds)[number];

/** A client of the service: its credential, and the values that its requests contain. */
export interface Caller {
  readonly kind: CallerKind;
  readonly isStranger: boolean;
  readonly headers: Readonly<Record<string, string>>;
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
  return ['api', 'team', 'account'].includes(audience);
}

/** A link token and an id that are well-formed and do not exist. */
const unknownToken = 'Q'.repeat(43);
const unknownId = 'x_01h2xcejqtf2nbrexx3vqjhp41';

/**
 * The two strangers: one without a credential, and one with every kind of wrong credential, because each route reads a
 * different kind.
 * @param revokedKey it is well-formed, so the service has to look it up
 */
export function strangers(revokedKey: string, known: KnownValues): Caller[] {
  const wrong = {
    'x-api-key': revokedKey,
    'x-device-token': `dev_a1b2${unknownToken}`,
    cookie: `ownline=${unknownToken}`,
    authorization: `Bearer ${unknownToken}`,
  };
  const parameter = (_: Route, name: string) => (name === 'token' ? unknownToken : unknownId);
  const stranger = { isStranger: true, known, parameter };
  return [
    { kind: 'no credential', headers: {}, ...stranger },
    { kind: 'wrong credential', headers: wrong, ...stranger },
  ];
}

/** Fills path parameters for a caller with a valid credential. */
export function fillParameter(
  teamId: string,
  ids: ReadonlyMap<string, string>,
  { method, path }: Route,
  name: string,
): string {
  if (name === 'team_id') return teamId;
  if (name === 'token') return unknownToken;
  const id = ids.get(collectionOf(path, name)) ?? unknownId;
  // The id of a DELETE is changed to one that does not exist, so that nothing is deleted.
  return method === 'DELETE' ? `${id.slice(0, -6)}000000` : id;
}

/** The path of the list that a parameter's ids are in: `/v1/webhooks` for `/v1/webhooks/:id/test`. */
export function collectionOf(path: string, name: string): string {
  return path.slice(0, path.indexOf(`/:${name}`));
}
