import { deliveryViolations } from './check-deliveries.ts';
import { eventViolations } from './check-events.ts';
import { feedViolations } from './check-feed.ts';
import { messageViolations } from './check-messages.ts';
import { phoneViolations } from './check-phones.ts';
import type { Row } from './history.ts';
import { Ledger } from './ledger.ts';
import type { Violation } from './violation.ts';

/**
 * Checks the record of a finished run, in which every request was answered, every message reported and every delivery
 * accepted. It is a pure function of the rows.
 */
export function check(rows: readonly Row[]): Violation[] {
  const ledger = new Ledger(rows);
  return [messageViolations, phoneViolations, eventViolations, deliveryViolations, feedViolations].flatMap(
    (violationsOf) => violationsOf(ledger),
  );
}
