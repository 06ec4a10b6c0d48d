import { check } from './checker.ts';
import type { Row } from './history.ts';
import { seededFaults } from './seeded-faults.ts';

/** Names of the seeded faults that the checker does not find in the given record. */
export function unfoundFaults(rows: readonly Row[]): string[] {
  return seededFaults
    .filter(({ rule, sow }) => !check(sow(rows)).some((violation) => violation.rule === rule))
    .map((fault) => fault.name);
}
