import type { NumberState, NumberStateCause, SetupLinkState } from '#contract/home.ts';
import type { NumberStatus } from '#contract/number.ts';
import { offlineAfterMs } from '#server/messages/limits.ts';
import { shortSilenceMs } from './limits.ts';

/** The latest setup link of a number. */
export interface LatestLink {
  /** It can still be opened. */
  readonly isOpen: boolean;
  /** A phone has taken its token. */
  readonly hasDevice: boolean;
  /** That phone is the one that polls, or polled last. */
  readonly hasPolled: boolean;
}

export interface NumberFacts {
  readonly status: NumberStatus;
  readonly isVerified: boolean;
  readonly lastSeenAt: Date | null;
  /** null where there is none any more. */
  readonly latestLink: LatestLink | null;
}

interface StateOfNumber {
  readonly state: NumberState;
  readonly cause: NumberStateCause | null;
}

/** The state of a number and its likely cause (specification section 12.10). */
export function numberState(facts: NumberFacts, now: Date): StateOfNumber {
  if (!facts.isVerified) return { state: 'pending', cause: pendingCause(facts.latestLink) };
  if (facts.status === 'paused') return { state: 'paused', cause: null };
  const silentMs = facts.lastSeenAt ? now.getTime() - facts.lastSeenAt.getTime() : Number.POSITIVE_INFINITY;
  if (silentMs <= offlineAfterMs) return { state: 'online', cause: null };
  return { state: 'offline', cause: offlineCause(facts.latestLink, silentMs) };
}

/** How far the setup of the latest link is (specification section 12.10). */
export function setupLinkState(link: LatestLink | null): SetupLinkState | null {
  if (link === null) return null;
  if (link.hasPolled) return 'polled';
  if (link.hasDevice) return 'claimed';
  return link.isOpen ? 'unopened' : 'ended';
}

function pendingCause(link: LatestLink | null): NumberStateCause {
  if (link?.hasDevice) return 'shortcuts_not_run';
  return link?.isOpen ? 'setup_link_unopened' : 'setup_link_ended';
}

function offlineCause(link: LatestLink | null, silentMs: number): NumberStateCause {
  const isReconnecting = link !== null && !link.hasPolled && (link.isOpen || link.hasDevice);
  if (isReconnecting) return 'reconnect_unfinished';
  return silentMs <= shortSilenceMs ? 'no_power_or_network' : 'automation_stopped';
}
