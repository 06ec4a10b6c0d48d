/* Values that the examples of the API reference share. All are fictional: the phone numbers are reserved for fiction,
   and the ids consist of a time and zeros. */

/** An id of the examples' time. Its number tells it from other ids of the same prefix. */
export function exampleId(prefix: string, number: number): string {
  return `${prefix}_01m7yq1we0e${String(number).padStart(15, '0')}`;
}

/** A time of the examples' day. @param time such as `09:30:05` */
export function exampleTime(time: string): string {
  return `2026-11-21T${time}.000Z`;
}

export const exampleNumber = '+14155550100';
export const exampleContact = '+14155550101';

/** The BASE_URL and APP_URL of the examples. */
export const exampleServer = 'https://texts.example.com';

/** The receiver of the examples' webhook. */
export const exampleReceiver = 'https://example.com/hooks/ownline';

export const exampleIds = {
  team: exampleId('team', 1),
  number: exampleId('num', 1),
  message: exampleId('msg', 1),
  reply: exampleId('msg', 2),
  cancelled: exampleId('msg', 3),
  failed: exampleId('msg', 4),
  waiting: exampleId('msg', 5),
  stop: exampleId('msg', 6),
  simulated: exampleId('num', 3),
  webhook: exampleId('wh', 1),
  delivery: exampleId('dlv', 1),
  optOut: exampleId('opt', 1),
  contact: exampleId('con', 1),
  conversation: exampleId('cnv', 1),
  member: exampleId('usr', 2),
  owner: exampleId('usr', 1),
  invitation: exampleId('inv', 1),
  /** The id of the invitation that replaces `invitation` when the invitation is sent again. */
  newInvitation: exampleId('inv', 2),
  /** An id that no team has, for the examples of a 404. */
  unknown: (prefix: string) => exampleId(prefix, 9_999),
} as const;
