import type { Row } from './history.ts';

/** Rules of the checker, named after their violations. */
export const rules = [
  'refused',
  'phone_stopped',
  'key_with_two_messages',
  'text_with_two_messages',
  'texts_in_one_message',
  'message_lost',
  'message_listed_twice',
  'message_without_cause',
  'message_changed',
  'message_unfinished',
  'handed_out_twice',
  'handed_out_of_order',
  'report_lost',
  'counted_wrong',
  'event_lost',
  'event_doubled',
  'event_without_cause',
  'event_changed',
  'event_of_another_team',
  'sequence_broken',
  'bytes_differ',
  'signature_forged',
  'delivery_unreadable',
  'delivered_to_stranger',
  'delivery_lost',
  'delivery_repeated',
  'feed_skipped',
  'feed_repeated',
  'feed_out_of_order',
] as const;
export type Rule = (typeof rules)[number];

export interface Violation {
  readonly rule: Rule;
  /** The fault as a sentence for people. */
  readonly says: string;
  /** The rows that show the fault. */
  readonly evidence: readonly Row[];
}

/** A list of one violation, because each rule makes a list of those that it finds. */
export function violation(rule: Rule, says: string, ...evidence: readonly (Row | undefined)[]): Violation[] {
  return [{ rule, says, evidence: evidence.filter((row) => row !== undefined) }];
}
