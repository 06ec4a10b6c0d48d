import type { SetupCheck, SetupReason } from '#contract/setup.ts';
import { lockTestMs, lockTextMaxMs, unlockAfterMs, unlockAfterTextMs } from './limits.ts';
import type { SetupFactsRow } from './setup-store.ts';
import { isSent, type TestText } from './test-text.ts';

export type LockOutcome = 'none' | 'running' | 'passed' | SetupReason;

export interface LockTestInput {
  readonly facts: SetupFactsRow;
  /** The text of the lock test, once it was accepted. */
  readonly lockText: TestText | undefined;
  readonly now: Date;
  /** How long a session lives after its last answer: a phone that is silent for longer has stopped. */
  readonly sessionLifeMs: number;
}

/**
 * Decides the lock test. It passes once the session that was current at its start has
 * polled for two minutes and sent the test's text. The count of its polls proves that it had no long gaps.
 */
export function lockOutcome({ facts, lockText, now, sessionLifeMs }: LockTestInput): LockOutcome {
  const { lock_started_at: startedAt, lock_passed_at, last_seen_at: lastSeenAt } = facts;
  if (lock_passed_at) return 'passed';
  if (!startedAt || !lastSeenAt) return 'none';
  if (facts.lock_text_refusal !== null) return 'text_refused';
  if (lockText?.status === 'failed') return 'text_failed';
  if (facts.session_id !== facts.lock_session_id) return 'restarted';
  const polledForMs = lastSeenAt.getTime() - startedAt.getTime();
  const polls = (facts.poll_sequence ?? 0) - (facts.lock_poll_sequence ?? 0);
  const isOver = polledForMs >= lockTestMs;
  if (isOver && polls < polledForMs / sessionLifeMs) return 'slow';
  const hasSent = lockText !== undefined && isSent(lockText.status);
  if (isOver && hasSent) return 'passed';
  const silentMs = now.getTime() - Math.max(lastSeenAt.getTime(), startedAt.getTime());
  if (silentMs > sessionLifeMs) return lockText?.status === 'polling' ? 'silent_at_text' : 'silent';
  return !hasSent && polledForMs > lockTextMaxMs ? 'text_late' : 'running';
}

/** When the person may unlock the iPhone; undefined before the first lock test. The SQL of the reply has the same rule. */
function unlockTime({ facts: { lock_started_at: at }, lockText }: LockTestInput): Date | undefined {
  if (!at) return undefined;
  const textMs = lockText?.at.getTime() ?? 0;
  return new Date(Math.max(at.getTime() + unlockAfterMs, textMs + unlockAfterTextMs));
}

/** The time until which the iPhone has to stay locked; undefined once neither the test nor its reply can pass. */
export function shownUnlockTime(input: LockTestInput): Date | undefined {
  const at = unlockTime(input);
  const outcome = lockOutcome(input);
  const waitsForReply = outcome === 'passed' && at && input.now < at && !input.facts.lock_reply_at;
  return outcome === 'running' || waitsForReply ? at : undefined;
}

/** The checks of the lock test: the locked phone polled and sent a text, and it received a reply. */
export function lockChecks(input: LockTestInput): readonly SetupCheck[] {
  const outcome = lockOutcome(input);
  const locked = { none: 'open', running: 'busy', passed: 'done' } as const;
  return [
    outcome === 'none' || outcome === 'running' || outcome === 'passed'
      ? { name: 'locked', state: locked[outcome], reason: null }
      : { name: 'locked', state: 'failed', reason: outcome },
    { name: 'locked_reply', state: replyState(input, outcome), reason: null },
  ];
}

function replyState(input: LockTestInput, outcome: LockOutcome): SetupCheck['state'] {
  const { facts, lockText, now } = input;
  if (facts.lock_reply_at) return 'done';
  const until = unlockTime(input);
  if (outcome === 'running' || (lockText && until && now < until)) return 'busy';
  return lockText ? 'failed' : 'open';
}
