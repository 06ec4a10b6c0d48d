import { type Fields, keep, resultOf, type Step, setVariable, text, variable } from './step.ts';

/** The version that the shortcuts report as `v`. */
export const shortcutVersion = '1';

/** Values that a phone needs to reach its server. */
export interface Connection {
  /** The address of the service, without a slash at its end. */
  readonly server: string;
  readonly deviceToken: string;
}

/**
 * Stands in a file without a connection until the person who imports it has answered. Both are empty: an address is
 * pasted whole, and a scheme in the field would double.
 */
export const unansweredConnection: Connection = { server: '', deviceToken: '' };

/** Asked at the import; the position of each is that of the action that takes the answer. */
export const importQuestions: readonly { readonly question: string; readonly defaultText: string }[] = [
  {
    question: 'Address of your Ownline (copy it from the setup page)',
    defaultText: unansweredConnection.server,
  },
  { question: 'Device token (copy it from the setup page)', defaultText: unansweredConnection.deviceToken },
];

/** The first actions of both shortcuts. The two Text actions come first: the import questions name their positions. */
export function connectionSteps({ server, deviceToken }: Connection): readonly Step[] {
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
