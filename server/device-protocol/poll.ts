import { phoneQueueChannel } from '#server/database/channels.ts';
import { isDatabaseAway } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { DeviceDescription } from '#server/devices/device-store.ts';
import type { DeviceCaller, HandlerContext } from '#server/http/route.ts';
import type { Claim, ClaimingPoll, createClaimBatcher } from '#server/messages/claim-message.ts';
import type { HandOut } from '#server/messages/claim-statement.ts';
import { resolveUnconfirmed } from '#server/messages/hand-out-leases.ts';
import type { createReportBatcher } from '#server/messages/report-message.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { DeviceSessionId, MessageId } from '#server/platform/ids.ts';
import type { PromotionCheck } from './check-promotion.ts';
import { decidePoll, type StopReason } from './decide-poll.ts';
import { shortenDeviceSession, startDeviceSession } from './device-session.ts';
import {
  elsewhereWaitSeconds,
  lookUpPauseMs,
  pacedCheckMaxMs,
  pacedContactsCheckMinMs,
  repeatedPollMs,
} from './limits.ts';
import type { createLookUpBatcher, PollLookUpRow } from './look-up-polls.ts';
import type { Peers } from './peers.ts';
import { DevicePoll, type PollRegistry } from './poll-registry.ts';

export interface PollRequest {
  readonly device: DeviceCaller;
  /** The session id that the poll sends; undefined if the phone asks for a new session. */
  readonly sessionId: DeviceSessionId | undefined;
  readonly last:
    | { readonly messageId: MessageId; readonly failed: boolean; readonly error: string | null }
    | undefined;
  readonly description: DeviceDescription;
  /** Aborted once the phone has disconnected. */
  readonly disconnect: AbortSignal;
  /** Runs a write under a permit of the poll's team. Group commits, such as claims and look-ups, need none. */
  readonly withPermit: HandlerContext['withPermit'];
}

export type PollResult =
  | { readonly kind: 'send'; readonly claimant: ClaimingPoll; readonly handOut: HandOut }
  | { readonly kind: 'idle'; readonly sessionId: DeviceSessionId; readonly waitSeconds: number }
  | { readonly kind: 'stop'; readonly reason: StopReason }
  | { readonly kind: 'unavailable' };

export type PollServices = Runtime & {
  readonly lookUps: ReturnType<typeof createLookUpBatcher>;
  readonly reports: ReturnType<typeof createReportBatcher>;
  readonly claims: ReturnType<typeof createClaimBatcher>;
  readonly polls: PollRegistry;
  readonly peers: Peers;
  readonly promotionCheck: PromotionCheck;
};

/**
 * Answers one poll of a phone (specification section 11.4). The poll's report is committed first, whatever the answer.
 * Then its token and session decide whether it stops, continues, or starts a session. Then it waits until a message is
 * handed out, or the time of the long poll is over.
 */
export async function poll(services: PollServices, request: PollRequest): Promise<PollResult> {
  await reportLast(services, request);
  const longPoll = new DevicePoll();
  const { numberId } = request.device;
  return services.polls.hold(numberId, longPoll, request.disconnect, () =>
    decide(services, request, longPoll),
  );
}

async function decide(
  services: PollServices,
  request: PollRequest,
  longPoll: DevicePoll,
): Promise<PollResult> {
  const { row } = await lookUp(services, request, longPoll);
  const decision = decidePoll(row, services.clock.now());
  if (decision.kind === 'stop') return decision;
  if (!row) return { kind: 'stop', reason: 'unauthorized' };
  if (decision.kind === 'continue') return waitForMessage(services, request, row, longPoll);
  const started = await request.withPermit(() =>
    startDeviceSession(services, request.device.tokenHash, row, request.description),
  );
  if ('stop' in started) return { kind: 'stop', reason: started.stop };
  return waitForMessage(services, request, { ...row, current_session: started.sessionId, poll: 1 }, longPoll);
}

/** Looks up a poll, again and again while the database is away and the poll is held. A repeat raises only its number. */
async function lookUp(services: PollServices, request: PollRequest, longPoll: DevicePoll) {
  const { device, sessionId, last } = request;
  const giveUpAt = Number(services.clock.now()) + services.config.deviceHoldMs;
  for (;;) {
    try {
      return await services.lookUps.lookUp({ ...device, sessionId, isReporting: last !== undefined });
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      await new Promise<void>((resolve) => void services.clock.after(lookUpPauseMs, resolve));
      if (longPoll.ended || Number(services.clock.now()) >= giveUpAt) throw error;
    }
  }
}

/** Records a poll's report about the message that the phone has just handled. Repeats change nothing. */
export async function reportLast(
  { reports }: Pick<PollServices, 'reports'>,
  { device, sessionId, last }: PollRequest,
): Promise<void> {
  if (!last) return;
  const { messageId, failed, error } = last;
  await reports.report(device, { messageId, sessionId, status: failed ? 'failed' : 'sent', error });
  failpoint('report written');
}

/** Waits until a message is claimed for the poll, or the poll ends. */
async function waitForMessage(
  services: PollServices,
  request: PollRequest,
  row: PollLookUpRow,
  longPoll: DevicePoll,
): Promise<PollResult> {
  const sessionId = row.current_session;
  // A newer poll of the session was looked up meanwhile. This older poll has no number, and does not wait.
  if (sessionId === null || row.poll === null) return { kind: 'stop', reason: 'superseded' };
  const isResolved = await resolveUnreported(services, row, sessionId, request.withPermit);
  const claimant: ClaimingPoll = {
    teamId: row.team_id,
    numberId: row.number_id,
    deviceId: row.device_id,
    sessionId,
    poll: row.poll,
  };
  services.polls.identify(longPoll, claimant);
  if (row.has_waiting || isResolved) longPoll.wake();
  longPoll.endAfter(services.clock, services.config.deviceHoldMs);
  const handOut = await claimWhenWoken(services, longPoll, claimant);
  if (handOut) return { kind: 'send', claimant, handOut };
  if (longPoll.ended === 'disconnected') {
    await request.withPermit(() => shortenDeviceSession(services, claimant));
  }
  if (longPoll.ended === 'superseded') return { kind: 'stop', reason: 'superseded' };
  if (longPoll.ended !== 'stopping') return { kind: 'idle', sessionId, waitSeconds: 0 };
  // The report is committed, so the phone may go on with another process. After `unavailable` it would wait for 15 s.
  if (services.peers.serve) return { kind: 'idle', sessionId, waitSeconds: elsewhereWaitSeconds };
  return { kind: 'unavailable' };
}

/** Tries to claim a message each time that the poll is woken. @returns undefined once the poll has ended */
async function claimWhenWoken(
  services: PollServices,
  longPoll: DevicePoll,
  claimant: ClaimingPoll,
): Promise<HandOut | undefined> {
  let cancelTimers = () => {};
  try {
    return await longPoll.firstOf(async () => {
      cancelTimers();
      const claim = await services.claims.claim(claimant, () => longPoll.ended !== undefined);
      if (claim.kind === 'paced') cancelTimers = wakeAfterPacing(services.clock, longPoll, claim);
      if (claim.kind !== 'hand_out') return undefined;
      failpoint('message handed out');
      return claim.handOut;
    });
  } finally {
    cancelTimers();
  }
}

/**
 * Wakes a poll when pacing lets its number send. It also wakes the poll from time to time before, because a
 * notification may be lost.
 * @returns a function that cancels the timer
 */
function wakeAfterPacing(
  clock: Runtime['clock'],
  longPoll: DevicePoll,
  { until, isWholeNumber }: Extract<Claim, { kind: 'paced' }>,
): () => void {
  longPoll.pace(isWholeNumber);
  const waitMs = until === null ? pacedCheckMaxMs : until.getTime() - clock.nowMs();
  const cancelWake = clock.after(Math.min(Math.max(waitMs, 1), pacedCheckMaxMs), () => longPoll.wake());
  const cancelNextCheck = clock.after(pacedContactsCheckMinMs, () => longPoll.allowNextCheck());
  return () => {
    cancelWake();
    cancelNextCheck();
  };
}

/**
 * Resolves a hand-out that the phone's next poll does not report. No report will follow, unless a proxy repeated the
 * poll. A hand-out of an older session may still be reported during a grace period; afterwards the sweep resolves it.
 */
async function resolveUnreported(
  services: PollServices,
  row: PollLookUpRow,
  sessionId: DeviceSessionId,
  withPermit: PollRequest['withPermit'],
): Promise<boolean> {
  const { in_flight_id: messageId, handed_out_at: handedOutAt } = row;
  if (messageId === null || handedOutAt === null || row.in_flight_session !== sessionId) return false;
  if (services.clock.nowMs() - handedOutAt.getTime() <= repeatedPollMs) return false;
  const flight = {
    team_id: row.team_id,
    number_id: row.number_id,
    message_id: messageId,
    hand_out: row.in_flight_hand_out,
  };
  const isResolved = await withPermit(() => resolveUnconfirmed(services, flight));
  // A newer poll of this session, perhaps on another process, may wait until this hand-out is resolved.
  if (isResolved) services.database.notify(phoneQueueChannel, [row.number_id]);
  return isResolved;
}
