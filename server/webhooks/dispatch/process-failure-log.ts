import { hostname } from 'node:os';
import type { Runtime } from '#server/database/runtime.ts';
import { RepeatLimiter } from '#server/platform/concurrency/repeat-limiter.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import { formatAddressRange } from '#server/platform/network/ip-address.ts';
import type { AttemptResult } from './attempt-delivery.ts';

/** Failures that the settings or network of one process may cause, while other processes succeed. */
const processFailures: ReadonlySet<AttemptResult['outcome']> = new Set(['forbidden_address', 'no_network']);

/**
 * Logs failures that the settings of one process may cause, so that differing settings are noticed (specification
 * section 10.4). Each class gets one line a minute; further failures are counted.
 */
export function createProcessFailureLog({ config, logger }: Pick<Runtime, 'config' | 'logger'>): (
  result: Pick<AttemptResult, 'outcome'> & {
    readonly claimed: Pick<AttemptResult['claimed'], 'delivery_id'>;
  },
) => void {
  const ownProcess = {
    hostname: hostname(),
    pid: process.pid,
    EGRESS_ALLOW_CIDRS: config.egressAllowed.map(formatAddressRange).join(','),
  };
  const message = 'an attempt failed, which may be due to the settings or the network of this process';
  const repeats = new RepeatLimiter<object>({
    max: 1,
    windowMs: 60_000,
    kindsMax: processFailures.size,
    summarize: (latest, count) => logger.warn({ ...latest, repeats: count }, message),
  });
  return ({ outcome, claimed }) => {
    if (!processFailures.has(outcome)) return;
    const fields = { failure: outcome, delivery: publicId('dlv', claimed.delivery_id), ...ownProcess };
    if (repeats.pass(outcome, fields)) logger.warn(fields, message);
  };
}
