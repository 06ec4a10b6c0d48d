import { deliveryViolations } from './check-deliveries.ts';
import { eventViolations } from './check-events.ts';
import { feedViolations } from './check-feed.ts';
import { messageViolations } from './check-messages.ts';
import { phoneViolations } from './check-phones.ts';
import type { Row } from './history.ts';
import { Ledger } from './ledger.ts';
import type { Violation } from './violation.ts';

/**
 * Judges a history that ended in quiet: everything sent was answered, every phone has reported, every webhook was
 * enabled and replayed until nothing was pending. Pure: it reads the rows and nothing else.
 */
export function check(rows: readonly Row[]): Violation[] {
  const ledger = new Ledger(rows);
  return [messageViolations, phoneViolations, eventViolations, deliveryViolations, feedViolations].flatMap(
    (violationsOf) => violationsOf(ledger),
  );
}
