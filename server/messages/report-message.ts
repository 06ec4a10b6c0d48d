import { plans } from '#contract/plans.ts';
import { pacingChannel } from '#server/database/channels.ts';
import { again, GroupCommit } from '#server/database/group-commit.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { lockCurrentSession } from '#server/devices/device-store.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { failpoint } from '#server/platform/failpoint.ts';
import type { DeviceSessionId, MessageId, NumberId, TeamId } from '#server/platform/ids.ts';
import { findTeam } from '#server/teams/team/team.ts';
import { takeAnswersBack } from './answer-store.ts';
import { confirmSent } from './confirm-sent.ts';
import { uncountFailedHandOut } from './conversation-store.ts';
import { phoneCommitWindowMs, phonesWaitingMax } from './limits.ts';
import { appendMessageEvents } from './message-event.ts';
import { countOutcomes } from './message-metrics.ts';
import {
  confirmDelivered,
  failByDevice,
  failNotDelivered,
  listHandOuts,
  lockMessage,
  recordOutcome,
  removeInFlight,
} from './message-store.ts';

/** A phone's report about a hand-out. */
export interface Report {
  readonly messageId: MessageId;
  /** The session of the poll that reports; undefined for POST /v1/device/status. */
  readonly sessionId: DeviceSessionId | undefined;
  /** `failed`: the phone could not send. `not_delivered`: only from devices that can report delivery. */
  readonly status: 'sent' | 'failed' | 'delivered' | 'not_delivered';
  readonly error: string | null;
}

/** The team and the number of the device that reports. */
interface ReportingDevice {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
}

/**
 * Applies a report that a message failed or was delivered (specification sections 3.2 and 11.3). Reports may be repeated,
 * late, or for a hand-out that was resolved. A report that the state table does not allow changes nothing. The commit of
 * a changed hand-out wakes the number's long poll on every process, because the change may free the number or a
 * contact's pacing.
 * @returns false if the message does not belong to this device's number, or was never handed out
 * @throws lock_not_available while another transaction has locked the session or the message
 */
export async function reportMessage(
  services: Runtime,
  device: ReportingDevice,
  report: Report,
): Promise<boolean | typeof again> {
  const { database } = services;
  return database.transaction(async (trx) => {
    if (report.status === 'failed' || report.status === 'not_delivered')
      return reportFailed(services, trx, device, report);
    // A message that was delivered was sent, too.
    const [confirmed = again] = await confirmSent(services, trx, [{ ...device, ...report }]);
    if (confirmed === true && report.status === 'delivered')
      await reportDelivered(services, trx, device, report);
    return confirmed;
  }, database.batches);
}

async function reportFailed(
  services: Runtime,
  trx: Transaction,
  { teamId, numberId }: ReportingDevice,
  report: Report,
): Promise<boolean> {
  // The lock on the session row makes reports, hand-outs and takeovers of a number run one after another. On this
  // connection pool, the wait for a lock ends after a moment.
  await lockCurrentSession(trx, { teamId, numberId });
  const message = await lockMessage(trx, { teamId, messageId: report.messageId });
  if (message?.number_id !== numberId || message.direction !== 'outbound') return false;
  const all = await listHandOuts(trx, { messageId: message.id });
  const latest = all.at(-1);
  const meant = all.findLast((handOut) => handOut.session_id === report.sessionId) ?? latest;
  if (!meant || !latest) return false;
  // A failure of an older hand-out does not concern the newer one.
  if (meant.hand_out !== latest.hand_out) return true;
  const at = services.clock.now();
  const { hand_out: handOut } = meant;
  // The phone's error text may quote the handle of a contact that was erased meanwhile.
  const deviceError = message.to_handle === '' ? null : report.error;
  const freed = await removeInFlight(trx, { number_id: numberId, message_id: message.id, hand_out: handOut });
  const fail =
    report.status === 'not_delivered' && message.status === 'sent' ? failNotDelivered : failByDevice;
  const failed = await fail(trx, { ...message, at, deviceError });
  // A late report of a failure does not change the message, but settles the outcome of an unconfirmed hand-out.
  const isBelieved = failed !== undefined || meant.outcome === 'unconfirmed';
  const resolved = { messageId: message.id, handOut, outcome: 'failed', at, isBelieved } as const;
  const changed = await recordOutcome(trx, resolved);
  if (changed && meant.outcome !== 'sent') {
    const contact = contactOf(message.to_handle);
    await uncountFailedHandOut(trx, { numberId, contact, handedOutAt: meant.handed_out_at });
  }
  if (failed) {
    await appendMessageEvents(trx, services, 'message.failed', [failed]);
    await takeAnswersBack(trx, [failed]);
  }
  if (failed || changed || freed) trx.notifyAfterCommit(pacingChannel, [numberId]);
  return true;
}

async function reportDelivered(
  services: Runtime,
  trx: Transaction,
  { teamId }: ReportingDevice,
  { messageId }: Report,
): Promise<void> {
  const team = await findTeam(trx, { teamId });
  const withEvent = team !== undefined && plans[team.plan].standard;
  const delivered = await confirmDelivered(trx, {
    team_id: teamId,
    id: messageId,
    at: services.clock.now(),
    events: withEvent ? 1 : 0,
  });
  if (!delivered) return;
  if (withEvent) await appendMessageEvents(trx, services, 'message.delivered', [delivered]);
  else countOutcomes(trx, services, 'message.delivered', [delivered]);
}

/** Confirms sent messages in group commits; each report of a failure or a delivery has its own transaction. */
export function createReportBatcher(services: Runtime) {
  const { database } = services;
  const commit = new GroupCommit<ReportingDevice & Report, boolean>({
    name: 'reports',
    services,
    run: (reports) =>
      database.transaction(async (trx) => {
        const outcomes = await confirmSent(services, trx, reports);
        failpoint('reports before commit');
        return outcomes;
      }, database.batches),
    runAlone: (report) => reportMessage(services, report, report),
    teamOf: ({ teamId }) => teamId,
    windowMs: phoneCommitWindowMs,
    waitingMax: phonesWaitingMax,
    refuse: () => unavailable('Too many phones report at once. Report again in a moment.'),
  });
  return {
    /** Applies a report. @returns false if the message is not of this device's number, or was never handed out */
    report: ({ teamId, numberId }: ReportingDevice, report: Report) =>
      commit.add({ teamId, numberId, ...report }, report.status === 'sent' ? 'shared' : 'alone'),
  };
}
