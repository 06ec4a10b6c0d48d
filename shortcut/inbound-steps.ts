import { type Connection, connectionSteps, post, shortcutVersion } from './connection.ts';
import {
  comment,
  dictionary,
  dictionaryValue,
  keep,
  keepAsText,
  nothing,
  repeat,
  resultOf,
  type Step,
  shortcutInput,
  stop,
  variable,
  wait,
  when,
} from './step.ts';

/**
 * *Ownline Inbound*: passes a received text on to the server (docs/specification.md section 11.5). Where a proxy answers
 * or the server is unavailable it repeats the call for three minutes: a reply cannot be had again. That stays below the
 * four minutes after which iOS ends some automations.
 */
export function inboundSteps(connection: Connection | undefined): readonly Step[] {
  return [
    ...connectionSteps(connection),
    comment(
      `Ownline Inbound, version ${shortcutVersion}. Passes the text that this iPhone has received on to your Ownline. An automation of the kind Message runs it.`,
    ),
    repeat(12, [
      ...keepAsText('Raw', inbound),
      // A proxy's page may hold any word: only an object is searched for the id of the stored message.
      when([variable('Raw'), 'begins with', '{'], stopWhereStored),
      wait(15),
      nothing,
    ]),
  ];
}

const inbound = post('/v1/device/inbound', [
  ['from', [shortcutInput('Sender')]],
  ['text', [shortcutInput('Content')]],
  ['recipients', [shortcutInput('Recipients')]],
  ['v', [shortcutVersion]],
]);

const stopWhereStored: readonly Step[] = [
  ...keep('Answer', dictionary(resultOf(inbound))),
  ...keepAsText('Stored', dictionaryValue('id', variable('Answer'))),
  when([variable('Stored'), 'begins with', 'msg_'], [stop]),
];
