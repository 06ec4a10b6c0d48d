import {
  type ContentsOfUrlStep,
  dictionary,
  dictionaryValue,
  type Fields,
  keep,
  keepAsText,
  resultOf,
  type Step,
  setVariable,
  text,
  variable,
  when,
} from './step.ts';

/** The version that the shortcuts report as `v`. */
export const shortcutVersion = '1';

/** Values that a phone needs to reach its server. */
export interface Connection {
  /** The address of the service, without a slash at its end. */
  readonly server: string;
  readonly deviceToken: string;
}

/** Asked at the import of a file without a connection. The answer is the setup code; it goes into the first action. */
export const importQuestion = 'Setup code (copy it from the setup page)';

/**
 * The setup code: address and device token as one text, for the import question (docs/specification.md section 11.11).
 * Its names are those of the answer to a claim.
 */
export function setupCode({ server, deviceToken }: Connection): string {
  return JSON.stringify({ server, device_token: deviceToken });
}

/**
 * The first actions of both shortcuts: they set the variables Server and Token.
 * @param connection undefined where the import asks for the setup code; its field is empty until then
 */
export function connectionSteps(connection: Connection | undefined): readonly Step[] {
  return connection ? knownConnection(connection) : askedConnection;
}

// The Text action comes first: the import question names its position.
const askedConnection: readonly Step[] = [
  ...keep('Code', text('')),
  ...keep('Connection', dictionary(variable('Code'))),
  ...keepAsText('Server', dictionaryValue('server', variable('Connection'))),
  ...keepAsText('Token', dictionaryValue('device_token', variable('Connection'))),
];

function knownConnection({ server, deviceToken }: Connection): readonly Step[] {
  const serverText = text(server);
  const tokenText = text(deviceToken);
  return [
    serverText,
    tokenText,
    setVariable('Server', resultOf(serverText)),
    setVariable('Token', resultOf(tokenText)),
  ];
}

export const tokenHeader: Fields = [['x-device-token', [variable('Token')]]];

/** A POST of texts to a path of the server. */
export const post = (path: string, json: Fields) =>
  ({ kind: 'contents_of_url', url: [variable('Server'), path], headers: tokenHeader, json }) as const;

export const keepText = (name: string, words: string): Step[] => keep(name, text(words));

/**
 * Runs steps with the answer of a call, whose text is *Raw*, as the dictionary *Answer*. A proxy's page may hold any word:
 * only an object is an answer.
 */
export const whenAnswered = (call: ContentsOfUrlStep, steps: readonly Step[]): Step =>
  when([variable('Raw'), 'begins with', '{'], [...keep('Answer', dictionary(resultOf(call))), ...steps]);

/** Keeps a field of the dictionary *Answer* as a text. */
export const keepFromAnswer = (name: string, field: string): Step[] =>
  keepAsText(name, dictionaryValue(field, variable('Answer')));
