import { align } from './align.ts';
import { repeatsOf } from './check-deliveries.ts';
import type { Row } from './history.ts';
import type { Ledger } from './ledger.ts';
import type { Violation } from './violation.ts';

const headings = ['killed at', 'kills', 'messages', 'events', 'repeats', 'violations'] as const;
const afterwards = '(afterwards)';

/**
 * Draws one line per failpoint. It counts the messages, repeats and violations between the previous kill and each kill
 * there. Messages are the accepted and the inbound ones. Repeats are deliveries that receivers accepted and got again.
 * A violation counts at its first evidence.
 */
export function drawTable(
  ledger: Ledger,
  points: readonly string[],
  violations: readonly Violation[],
): string {
  const { kills } = ledger;
  const pointOf = pointFinder(kills);
  const names = [...points, afterwards];
  const lines = names.map((name) => {
    const count = (rows: readonly (Row | undefined)[]) =>
      rows.filter((row) => row !== undefined && pointOf(row.at) === name).length;
    return [
      name,
      kills.filter((kill) => kill.point === name).length,
      count([...ledger.messages.values()].map((message) => message.cause)),
      count([...ledger.events.values()].map((event) => event.seen)),
      count(repeatsOf(ledger)),
      count(violations.map((violation) => violation.evidence[0])),
    ] as const;
  });
  const sums = [1, 2, 3, 4, 5].map((column) => lines.reduce((sum, line) => sum + Number(line[column]), 0));
  return align([headings, ...lines, ['in all', ...sums]]);
}

/** Returns a function that finds the target of the next kill after a time. */
function pointFinder(kills: readonly Row<'process_killed'>[]): (at: number) => string {
  return (at) => {
    let [low, high] = [0, kills.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((kills[middle]?.at ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return kills[low]?.point ?? afterwards;
  };
}

/** Describes the first few violations of each rule with their evidence. */
export function describeViolations(violations: readonly Violation[], perRule = 3): string {
  const seen = new Map<string, number>();
  return violations
    .flatMap(({ rule, says, evidence }) => {
      const count = (seen.get(rule) ?? 0) + 1;
      seen.set(rule, count);
      if (count > perRule) return [];
      return [
        `${rule}: ${says}`,
        ...evidence.slice(0, 6).map((row) => `    ${JSON.stringify(row).slice(0, 700)}`),
      ];
    })
    .join('\n');
}
