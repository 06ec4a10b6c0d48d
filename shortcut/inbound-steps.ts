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
 * *Ownline Inbound*: passes a received text on to the server (docs/specification.md section 11.5). Where a proxy answers
 * or the server is unavailable it repeats the call for three minutes: a reply cannot be had again. That stays below
 * the four minutes after which iOS ends some automations. The server knows the repeats of a run by the run's number.
 */
export function inboundSteps(connection: Connection | undefined): readonly Step[] {
  return [
    ...connectionSteps(connection),
    comment(
      `Ownline Inbound, version ${shortcutVersion}. Passes the text that this iPhone has received on to your Ownline. An automation of the kind Message runs it.`,
    ),
    // Once for all calls, so that a call whose answer was lost is known again, however late its repeat is.
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

/** Reasons of a refusal that no repeat changes (docs/specification.md section 11.5). */
const lastingRefusals = ['unauthorized', 'deleted', 'superseded', 'unreadable', 'too_large'];

const reason = dictionaryValue('reason', variable('Answer'));

/** Stops where the message was stored, and where the server will never take it. */
const readAnswer: readonly Step[] = [
  ...keepFromAnswer('Stored', 'id'),
  when([variable('Stored'), 'begins with', 'msg_'], [stop]),
  // The slashes make it a whole word of the list, and no reason none of it.
  reason,
  ...keep('Refusal', text('/', resultOf(reason), '/')),
  when([variable('Refusals'), 'contains', variable('Refusal')], [stop]),
];
