import {
  type Connection,
  connectionSteps,
  keepFromAnswer,
  keepText,
  post,
  shortcutVersion,
  tokenHeader,
  whenAnswered,
} from './connection.ts';
import {
  comment,
  deviceDetail,
  keep,
  keepAsText,
  nothing,
  repeat,
  type Step,
  sendMessage,
  setVariable,
  stop,
  text,
  variable,
  wait,
  when,
} from './step.ts';

/**
 * Steps of *Ownline Outbox*: it polls, sends the message that it gets, and reports the outcome with the next poll
 * (docs/device-protocol.md sections 11.2 to 11.4). A run lasts more than a day; automations, called starters, start the
 * next run. If an action fails the run ends, and the server resolves the message as unconfirmed.
 */
export function outboxSteps(connection: Connection | undefined): readonly Step[] {
  return [
    ...connectionSteps(connection),
    comment(
      `Ownline Outbox, version ${shortcutVersion}. Sends the messages of your Ownline from this iPhone. Automations start it; it stops by itself where it runs already.`,
    ),
    ...keep('Device', deviceDetail('Device Name')),
    ...keep('System', deviceDetail('System Version')),
    ...keepText('None', 'none'),
    setVariable('Last', variable('None')),
    ...keepText('Session', 'new'),
    ...keepText('Outcome', 'sent'),
    setVariable('Known', variable('None')),
    ...keepText('Endings', `/${sendableEndings.join('/')}/`),
    repeat(5000, [
      ...keepAsText('Raw', poll),
      // A phone keeps each result of a run in memory. So the fields of an answer are not read again while nothing comes
      // and each answer is the same. Then Session, Last and Pause remain as they are. An empty answer clears Raw, and an If
      // without an input takes Otherwise.
      when([variable('Raw'), 'is', variable('Known')], [], readNewAnswer),
      when([variable('Pause'), 'is not', '0'], [wait(variable('Pause'))]),
      // An empty result ends each round of the loop. Otherwise the phone would collect the results of all rounds in
      // memory.
      nothing,
    ]),
  ];
}

const poll = post('/v1/device/poll', [
  ['session', [variable('Session')]],
  ['last', [variable('Last')]],
  ['last_status', [variable('Outcome')]],
  ['device_name', [variable('Device')]],
  ['os', [variable('System')]],
  ['v', [shortcutVersion]],
]);

const media = {
  kind: 'contents_of_url',
  url: [variable('Server'), variable('Media')],
  headers: tokenHeader,
  json: undefined,
} as const;

/**
 * File extensions of the media types that go out (docs/specification.md section 2.8), with the alternatives that an iPhone
 * may choose. A contact or a calendar entry could become a text.
 */
const sendableEndings = [
  ...['jpg', 'jpeg', 'png', 'gif', 'heic', 'heics', 'heif', 'heifs', 'hif', 'webp', 'tiff', 'tif', 'bmp'],
  ...['mp4', 'mov', 'qt', 'm4v', '3gp', '3gpp'],
  ...['mp3', 'm4a', 'aac', 'wav', 'wave', 'amr', 'caf', 'aiff', 'aif'],
  'pdf',
];

/** The picture is sent before the text. So if the picture can't be fetched or sent, the text is not sent either. */
const sendPicture: readonly Step[] = [
  ...keep('File', media),
  // The list has the form `/a/b/`. With its slashes only a whole extension matches. A file without an extension gives
  // `//`, which matches none.
  ...keep('Kind', text('/', { from: 'variable', name: 'File', property: 'File Extension' }, '/')),
  // The extension is checked, because a proxy may answer with an error page instead of the picture, which must not be
  // texted to a customer.
  when(
    [variable('Endings'), 'contains', variable('Kind')],
    [sendMessage(variable('File'), variable('To'))],
    keepText('Outcome', 'failed'),
  ),
];

const send: readonly Step[] = [
  ...keepFromAnswer('To', 'to'),
  ...keepFromAnswer('Body', 'text'),
  ...keepFromAnswer('Media', 'media'),
  when([variable('Media'), 'is not', 'none'], sendPicture),
  when([variable('Outcome'), 'is', 'sent'], [sendMessage(variable('Body'), variable('To'))]),
  ...keepFromAnswer('Last', 'id'),
];

const goOn: readonly Step[] = [
  setVariable('Known', variable('Raw')),
  // The report is cleared: the server answers a poll only after it has stored the poll's report.
  setVariable('Last', variable('None')),
  ...keepText('Outcome', 'sent'),
  setVariable('Session', variable('Named')),
  ...keepFromAnswer('Pause', 'wait'),
  when([variable('Action'), 'is', 'send'], send),
];

/**
 * Only answers after which the phone polls again contain a session. A stop, an error and the JSON of a proxy contain
 * none.
 */
const readAnswer: readonly Step[] = [
  ...keepFromAnswer('Action', 'action'),
  ...keepFromAnswer('Named', 'session'),
  when([variable('Named'), 'begins with', 'ses_'], goOn, [when([variable('Action'), 'is', 'stop'], [stop])]),
];

const readNewAnswer: readonly Step[] = [
  ...keepText('Pause', '15'),
  setVariable('Known', variable('None')),
  // A poll without an answer is repeated after the pause.
  whenAnswered(poll, readAnswer),
];
