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
  resultOf,
  type Step,
  shortcutInput,
  stop,
  text,
  variable,
  wait,
  when,
} from './step.ts';

/**
 * Steps of *Ownline Inbound*, which posts a received text to the server (docs/specification.md section 11.5). iOS
 * starts it once per text, so the shortcut itself repeats the call for three minutes while the server is unavailable.
 * iOS ends some automations after four minutes. The server recognizes repeats by the id of the run.
 */
export function inboundSteps(connection: Connection | undefined): readonly Step[] {
  return [
    ...connectionSteps(connection),
    comment(
      `Ownline Inbound, version ${shortcutVersion}. Passes the text that this iPhone has received on to your Ownline. An automation of the kind Message runs it.`,
    ),
    // All calls of a run send the same number, so that the server recognizes a repeat whose first answer was lost.
    ...keep('Run', randomNumber(1, 1_000_000)),
    ...keepText('Refusals', `/${lastingRefusals.join('/')}/`),
    repeat(12, [...keepAsText('Raw', inbound), whenAnswered(inbound, readAnswer), wait(15), nothing]),
  ];
}

const inbound = post('/v1/device/inbound', [
  ['from', [shortcutInput('Sender')]],
  ['text', [shortcutInput('Content')]],
  ['recipients', [shortcutInput('Recipients')]],
  ['run', [variable('Run')]],
  ['v', [shortcutVersion]],
]);

/**
 * Reasons for which the server refuses a text for good, so that a repeat would be useless (docs/specification.md
 * section 11.5).
 */
const lastingRefusals = ['unauthorized', 'deleted', 'superseded', 'unreadable', 'too_large'];

const reason = dictionaryValue('reason', variable('Answer'));

/** Stops the shortcut if the message was stored, or if the server will never accept it. */
const readAnswer: readonly Step[] = [
  ...keepFromAnswer('Stored', 'id'),
  when([variable('Stored'), 'begins with', 'msg_'], [stop]),
  // The list has the form `/a/b/`. With its slashes only a whole reason matches. An answer without a reason gives `//`,
  // which matches none.
  reason,
  ...keep('Refusal', text('/', resultOf(reason), '/')),
  when([variable('Refusals'), 'contains', variable('Refusal')], [stop]),
];
