/*
 * The test line, from which test keys send, and its recipients (docs/test-keys.md, decision 0042).
 */

/** The number that every test team has, and from which test keys send. It is reserved for fiction. */
export const testLine = '+15005550100';

/** Failures of test messages that wait for a phone, by the last two digits of the recipient. */
export const testFailures = {
  '21': 'cancelled',
  '22': 'number_removed',
  '23': 'opted_out',
  '24': 'media_unavailable',
  '25': 'media_too_large',
} as const;

/** Outcomes of test messages, by the last two digits of the recipient: an error_code, or what the phone does. */
export const testOutcomes = {
  '01': 'delivered',
  '02': 'sent',
  '03': 'slow',
  '10': 'reply_yes',
  '11': 'reply_stop',
  '20': 'expired',
  ...testFailures,
  '26': 'device_timeout',
  '27': 'device_error',
  '28': 'not_delivered',
} as const;
export type TestOutcome = (typeof testOutcomes)[keyof typeof testOutcomes];

/** The outcome of a test message to a recipient; `delivered` if the table above does not have its last digits. */
export function testOutcomeOf(to: string): TestOutcome {
  return Object.entries(testOutcomes).find(([digits]) => to.endsWith(digits))?.[1] ?? 'delivered';
}

/** Matches recipients whose test messages no phone takes: they fail while they wait, or expire. */
export const unsentRecipientPattern = new RegExp(`(20|${Object.keys(testFailures).join('|')})$`);
