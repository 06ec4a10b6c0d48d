import {
  type Connection,
  connectionSteps,
  keepFromAnswer,
  keepText,
  post,
  shortcutVersion,
  whenAnswered,
} from './connection.ts';
import {
  comment,
  dictionaryValue,
  keep,
  keepAsText,
  nothing,
  randomNumber,
  repeat,
  repeatEach,
  repeatItem,
  resultOf,
  type Step,
  shortcutInput,
  text,
  variable,
  wait,
  when,
} from './step.ts';

/**
 * Steps of *Ownline Inbound*, which posts a received text to the server (docs/device-protocol.md section 11.5). iOS
 * starts it once per text, so the shortcut itself repeats the call for two minutes while the server is unavailable.
 * After a time without network, iOS may pass on several texts at once.
 */
export function inboundSteps(connection: Connection | undefined): readonly Step[] {
  return [
    ...connectionSteps(connection),
    comment(
      `Ownline Inbound, version ${shortcutVersion}. Passes the text that this iPhone has received on to your Ownline. An automation of the kind Message runs it.`,
    ),
    ...keepText('Refusals', `/${lastingRefusals.join('/')}/`),
    repeatEach(shortcutInput, [
      // All calls for a text send the same number, so that the server recognizes a repeat whose first answer was lost.
      ...keep('Run', randomNumber(1, 1_000_000)),
      ...keepText('Done', 'no'),
      ...keepText('Again', 'no'),
      repeat(10, [whenNotDone([waitIfAgain, ...tryOnce, ...keepText('Again', 'yes')]), nothing]),
    ]),
  ];
}

/** The wait comes before a further call, so that a run ends with its last call. */
const waitIfAgain = when([variable('Again'), 'is', 'yes'], [wait(15)]);
const whenNotDone = (steps: readonly Step[]) => when([variable('Done'), 'is', 'no'], steps);

const inbound = post('/v1/device/inbound', [
  ['from', [repeatItem('Sender')]],
  ['text', [repeatItem('Content')]],
  ['recipients', [repeatItem('Recipients')]],
  ['run', [variable('Run')]],
  // `again` says that a call failed before: the text, and the runs of other automations, may have waited for minutes.
  ['again', [variable('Again')]],
  ['v', [shortcutVersion]],
]);

/**
 * Reasons for which the server refuses a text for good, so that a repeat would be useless (docs/device-protocol.md
 * section 11.5).
 */
export const lastingRefusals: readonly string[] = [
  'unauthorized',
  'deleted',
  'superseded',
  'unreadable',
  'too_large',
];

const reason = dictionaryValue('reason', variable('Answer'));

/** The text is done if the server stored it, or will never accept it. */
const readAnswer: readonly Step[] = [
  ...keepFromAnswer('Stored', 'id'),
  when([variable('Stored'), 'begins with', 'msg_'], keepText('Done', 'yes')),
  // The list has the form `/a/b/`. With its slashes only a whole reason matches. An answer without a reason gives `//`,
  // which matches none.
  reason,
  ...keep('Refusal', text('/', resultOf(reason), '/')),
  when([variable('Refusals'), 'contains', variable('Refusal')], keepText('Done', 'yes')),
];

const tryOnce: readonly Step[] = [...keepAsText('Raw', inbound), whenAnswered(inbound, readAnswer)];
