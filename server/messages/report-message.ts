import { plans } from '#contract/plans.ts';
import { pacingChannel } from '#server/database/channels.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import { lockFreeSession } from '#server/devices/device-store.ts';
import type { DeviceSessionId, MessageId, NumberId, TeamId } from '#server/platform/ids/ids.ts';
import { findTeam } from '#server/teams/team/team-store.ts';
import { uncountFailedHandOut } from './conversation-store.ts';
import { lateReportMs } from './limits.ts';
import type { MessageRow } from './message.ts';
import { appendMessageEvents } from './message-event.ts';
import {
  confirmDelivered,
  confirmSent,
  failByDevice,
  failNotDelivered,
  type HandOutRow,
  listHandOuts,
  lockMessage,
  recordOutcome,
  removeFromQueue,
  removeInFlight,
} from './message-store.ts';
import { countOutcomes } from './outcome-metrics.ts';

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
export interface ReportingDevice {
  readonly teamId: TeamId;
  readonly numberId: NumberId;
}

type Services = Pick<Runtime, 'database' | 'clock' | 'ids' | 'metrics'>;

/**
 * Applies a report (specification sections 3.2 and 11.3). Reports may be repeated, late, or for a hand-out that was
 * resolved. A report that the state table does not allow changes nothing. The commit of a changed hand-out wakes the
 * number's held poll on every process, because the change may free the number or a contact's pacing.
 * @returns false if the message does not belong to this device's number, or was never handed out
 * @throws lock_not_available while another transaction has locked the session or the message
 */
export async function reportMessage(
  services: Services,
  { teamId, numberId }: ReportingDevice,
  report: Report,
): Promise<boolean> {
  const { database } = services;
  return database.transaction(async (trx) => {
    // The lock on the session row makes reports, hand-outs and takeovers of a number run one after another.
    await lockFreeSession(trx, teamId, numberId);
    const message = await lockMessage(trx, teamId, report.messageId);
    if (message?.number_id !== numberId || message.direction !== 'outbound') return false;
    const all = await listHandOuts(trx, message.id);
    const latest = all.at(-1);
    const meant = all.findLast((handOut) => handOut.session_id === report.sessionId) ?? latest;
    if (!meant || !latest) return false;
    const hasFailed = report.status === 'failed' || report.status === 'not_delivered';
    // A failure of an older hand-out does not concern the newer one.
    if (hasFailed && meant.hand_out !== latest.hand_out) return true;
    const changed = await (hasFailed
      ? reportFailed(services, trx, message, meant, report)
      : reportSent(services, trx, message, meant));
    if (changed) trx.notifyAfterCommit(pacingChannel, [numberId]);
    if (report.status === 'delivered') await reportDelivered(services, trx, message);
    return true;
  }, database.batches);
}

/** @returns false if neither the message nor its hand-out changed */
async function reportSent(
  services: Services,
  trx: Transaction,
  message: MessageRow,
  meant: HandOutRow,
): Promise<boolean> {
  const now = services.clock.now();
  const freed = await removeInFlight(trx, message.number_id, message.id, meant.hand_out);
  const sinceMs = services.clock.expiryNow().getTime() - meant.handed_out_at.getTime();
  if (message.status === 'failed' && sinceMs > lateReportMs) return freed !== undefined;
  const sent = await confirmSent(trx, message, now);
  // The message is finished already: the report only records an outcome if its hand-out has none.
  const changed = await recordOutcome(trx, message.id, meant.hand_out, 'sent', now, sent !== undefined);
  if (!sent) return changed || freed !== undefined;
  if (message.status === 'queued') await removeFromQueue(trx, message.team_id, message.id);
  await appendMessageEvents(trx, services, 'message.sent', [sent]);
  return true;
}

/** @returns false if neither the message nor its hand-out changed */
async function reportFailed(
  services: Services,
  trx: Transaction,
  message: MessageRow,
  meant: HandOutRow,
  report: Report,
): Promise<boolean> {
  const now = services.clock.now();
  // The phone's error text may quote the handle of a contact that was erased meanwhile.
  const error = message.to_handle === '' ? null : report.error;
  const freed = await removeInFlight(trx, message.number_id, message.id, meant.hand_out);
  const failed =
    report.status === 'not_delivered' && message.status === 'sent'
      ? await failNotDelivered(trx, message, now, error)
      : await failByDevice(trx, message, now, error);
  // A late report of a failure does not change the message, but settles the outcome of an unconfirmed hand-out.
  const isBelieved = failed !== undefined || meant.outcome === 'unconfirmed';
  const changed = await recordOutcome(trx, message.id, meant.hand_out, 'failed', now, isBelieved);
  if (changed && meant.outcome !== 'sent') await uncountFailedHandOut(trx, message, meant.handed_out_at);
  if (!failed) return changed || freed !== undefined;
  await appendMessageEvents(trx, services, 'message.failed', [failed]);
  return true;
}

async function reportDelivered(services: Services, trx: Transaction, message: MessageRow): Promise<void> {
  const team = await findTeam(trx, message.team_id);
  const withEvent = team !== undefined && plans[team.plan].standard;
  const delivered = await confirmDelivered(trx, message, services.clock.now(), withEvent);
  if (!delivered) return;
  if (withEvent) await appendMessageEvents(trx, services, 'message.delivered', [delivered]);
  else countOutcomes(trx, services, 'delivered', [delivered]);
}
