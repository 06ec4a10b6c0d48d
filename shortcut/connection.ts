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

/** The version that the shortcuts send as `v`. */
export const shortcutVersion = '1';

/** The address and the credential with which a phone reaches its server. */
export interface Connection {
  /** The base URL of the service, without a trailing slash. */
  readonly server: string;
  readonly deviceToken: string;
}

/**
 * The question that an iPhone asks when it imports a shortcut without a connection. The answer, a setup code, becomes
 * the first action's text.
 */
export const importQuestion = 'Setup code (copy it from the setup page)';

/**
 * Serializes the setup code: address and device token as one text. Its field
 * names are those of the answer to a device claim.
 */
export function setupCode({ server, deviceToken }: Connection): string {
  return JSON.stringify({ server, device_token: deviceToken });
}

/**
 * The first actions of both shortcuts. They set the variables Server and Token.
 * @param connection undefined: the iPhone asks for the setup code when the shortcut is imported, and stores it in the
 * first action
 */
export function connectionSteps(connection: Connection | undefined): readonly Step[] {
  return connection ? knownConnection(connection) : askedConnection;
}

// The Text action comes first, because the import question names the action by its position.
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

export const post = (path: string, json: Fields) =>
  ({ kind: 'contents_of_url', url: [variable('Server'), path], headers: tokenHeader, json }) as const;

export const keepText = (name: string, words: string): Step[] => keep(name, text(words));

/**
 * Runs `steps` if the answer of a call, the variable *Raw*, is a JSON object, which becomes the dictionary *Answer*.
 * The error page of a proxy is no JSON object, so its words are ignored.
 */
export const whenAnswered = (call: ContentsOfUrlStep, steps: readonly Step[]): Step =>
  when([variable('Raw'), 'begins with', '{'], [...keep('Answer', dictionary(resultOf(call))), ...steps]);

/** Copies a field of the dictionary *Answer* into a text variable. */
export const keepFromAnswer = (name: string, field: string): Step[] =>
  keepAsText(name, dictionaryValue(field, variable('Answer')));
