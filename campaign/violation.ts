import type { Row } from './history.ts';
import type { Rule } from './seeded-faults.ts';

export interface Violation {
  /** The rule of the checker, named after its violation. */
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
