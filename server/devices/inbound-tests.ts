import type { InboundCoverage } from '#contract/number.ts';

/** A test of one Message automation: the text that it looks for, and a reply that only this automation catches. */
export interface InboundTest {
  /** The test's name in the column received_tests. */
  readonly name: string;
  /** The text in the automation's field *Message Contains*. */
  readonly contains: string;
  /** The text to send to the number from another phone. */
  readonly reply: string;
  /**
   * The set of automations. `needed` catches texts of several words and the most frequent replies of one word. `full`
   * catches nearly all other replies. `answers` catches replies to texts that ask for one letter or digit.
   */
  readonly set: 'needed' | 'full' | 'answers';
}

/**
 * Inbound tests of the setup page. iOS ignores case and accents. Each reply contains the
 * text of only one automation, so a reply that does not arrive identifies its automation.
 */
export const inboundTests: readonly InboundTest[] = [
  { name: 'space', contains: ' ', reply: '7 pm', set: 'needed' },
  { name: 'e', contains: 'e', reply: 'Seen', set: 'needed' },
  { name: 'o', contains: 'o', reply: 'No', set: 'needed' },
  { name: 'a', contains: 'a', reply: 'Thanks', set: 'needed' },
  { name: 'i', contains: 'i', reply: 'Hi', set: 'needed' },
  { name: 'u', contains: 'u', reply: 'Plus', set: 'full' },
  { name: 'y', contains: 'y', reply: 'Why', set: 'full' },
  { name: 'c', contains: 'c', reply: 'C', set: 'answers' },
  { name: '1', contains: '1', reply: '1', set: 'answers' },
  { name: '2', contains: '2', reply: '2', set: 'answers' },
];

/** The entry of the column received_tests for a phone that has passed on any text at all. */
export const anyText = 'any';

/** A longer text contains what several automations look for, so it passes no test. */
const testedCharactersMax = 40;

/** Letters of other alphabets than the Latin one. Automations for them have no test. */
const otherAlphabets = /[\p{L}--[\p{Script=Latin}\p{Script=Common}]]/v;

/**
 * Names the inbound tests that a received text passes. A text passes the test of an automation if no other automation
 * could have caught it. Such texts are the replies of the setup page, and a contact's `Ok`.
 */
export function inboundTestsOf(text: string): string[] {
  if (text.length > testedCharactersMax) return [anyText];
  const compared = toCompared(text);
  if (otherAlphabets.test(compared)) return [anyText];
  const catching = inboundTests.filter(({ contains }) => compared.includes(contains));
  return [anyText, ...(catching.length === 1 ? catching.map(({ name }) => name) : [])];
}

/** The start of a text that is compared with automations. A longer text contains what all automations look for. */
const comparedCharactersMax = 1_000;

/** Counts the automations that pass a text on, among those whose tests the phone has passed. */
export function countAutomations(text: string, receivedTests: readonly string[]): number {
  const compared = toCompared(text.slice(0, comparedCharactersMax));
  return inboundTests.filter(
    ({ name, contains }) => receivedTests.includes(name) && compared.includes(contains),
  ).length;
}

/** Ignores case and accents as iOS does, surrounding white space, and marks that keyboards insert. */
function toCompared(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[\s\u200e\u200f]+/g, ' ')
    .trim();
}

/** `words`: the test of texts of several words passed. `full`: all tests of the sets `needed` and `full` passed. */
export function inboundCoverageOf(receivedTests: readonly string[]): InboundCoverage {
  if (inboundTests.every(({ name, set }) => set === 'answers' || receivedTests.includes(name))) return 'full';
  return receivedTests.includes('space') ? 'words' : 'unknown';
}
