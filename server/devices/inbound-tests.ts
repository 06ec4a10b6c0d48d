import type { InboundCoverage } from '#contract/number.ts';

/** A test of one automation of the kind Message: the text that it looks for, and a reply that only it catches. */
export interface InboundTest {
  /** Its name in the column received_tests. */
  readonly name: string;
  /** The text of *Message Contains*. */
  readonly contains: string;
  /** To be texted to the number from another phone. */
  readonly reply: string;
  /**
   * `needed` catches texts of several words and the most frequent replies of one word, `full` nearly all others.
   * `answers` catches replies to texts that ask for one letter or digit.
   */
  readonly set: 'needed' | 'full' | 'answers';
}

/**
 * Inbound tests of the setup page (specification section 11.8). iOS compares without case and accents. Each reply has
 * the text of its own automation and of no other one, so a reply that is missed names the automation.
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

/** In received_tests: any text at all. */
export const anyText = 'any';

/** The tests that a received text passes. Case, white space around it and a mark at its end do not count. */
export function inboundTestsOf(text: string): string[] {
  const plain = plainReply(text);
  const passed = inboundTests.filter(({ reply }) => plainReply(reply) === plain);
  return [anyText, ...passed.map(({ name }) => name)];
}

function plainReply(text: string): string {
  // A reply of the tests is short: a long text is none, and is not normalised.
  if (text.length > 40) return text;
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\u200e\u200f]+/g, ' ')
    .trim()
    .replace(/[.!?]$/, '');
}

/** `words` where the test of texts of several words passed, `full` where those of both sets for all replies did. */
export function inboundCoverageOf(receivedTests: readonly string[]): InboundCoverage {
  if (inboundTests.every(({ name, set }) => set === 'answers' || receivedTests.includes(name))) return 'full';
  return receivedTests.includes('space') ? 'words' : 'unknown';
}
