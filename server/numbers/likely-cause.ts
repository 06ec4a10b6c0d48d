import type { HealthCause, HealthState } from '#contract/number-health.ts';
import { shortSilenceMs } from './limits.ts';

export interface CauseFacts {
  readonly state: HealthState;
  readonly is_simulated: boolean;
  readonly last_seen_at: Date | null;
  /** True if the phone got a message in its last poll. */
  readonly has_taken_message: boolean;
  /** True if the phone disconnected during its last poll. */
  readonly has_left: boolean;
  /** True if the latest setup link is open; null if the number has no setup link. */
  readonly link_is_open: boolean | null;
  readonly link_has_device: boolean | null;
  readonly link_has_polled: boolean | null;
}

/** The likely cause of a number's health if it is pending or offline; null otherwise (specification section 4.7). */
export function likelyCause(facts: CauseFacts, now: Date): HealthCause | null {
  if (facts.state !== 'pending' && facts.state !== 'offline') return null;
  if (facts.is_simulated) return 'simulated_not_running';
  return facts.state === 'pending' ? pendingCause(facts) : offlineCause(facts, now);
}

function pendingCause({ link_has_device, link_is_open }: CauseFacts): HealthCause {
  if (link_has_device) return 'shortcuts_not_run';
  return link_is_open ? 'setup_link_unopened' : 'setup_link_ended';
}

function offlineCause(facts: CauseFacts, now: Date): HealthCause {
  const { link_has_polled, link_is_open, link_has_device, last_seen_at: lastSeenAt } = facts;
  if (link_has_polled === false && (link_is_open || link_has_device)) return 'reconnect_unfinished';
  if (facts.has_taken_message) return 'stopped_after_message';
  if (lastSeenAt === null || now.getTime() - lastSeenAt.getTime() > shortSilenceMs)
    return 'automation_stopped';
  return facts.has_left ? 'stopped_while_waiting' : 'no_power_or_network';
}
