import { GroupCommit } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { confirmSentReports } from './confirm-sent.ts';
import { phoneCommitWindowMs, phonesWaitingMax } from './limits.ts';
import { type Report, type ReportingDevice, reportMessage } from './report-message.ts';

export interface ReportBatcher {
  /** Applies a report. @returns false if the message does not belong to this device's number, or was never handed out */
  readonly report: (device: ReportingDevice, report: Report) => Promise<boolean>;
}

/**
 * Confirms messages that were sent in a group commit. A report of a failure or a delivery runs alone.
 */
export function createReportBatcher(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'metrics'>,
): ReportBatcher {
  const commit = new GroupCommit<ReportingDevice & Report, boolean>({
    name: 'reports',
    metrics: services.metrics,
    run: (reports) => confirmSentReports(services, reports),
    runAlone: (report) => reportMessage(services, report, report),
    teamOf: ({ teamId }) => teamId,
    windowMs: phoneCommitWindowMs,
    waitingMax: phonesWaitingMax,
    refuse: () => unavailable('Too many phones report at once. Report again in a moment.'),
  });
  return {
    report: ({ teamId, numberId }, report) =>
      commit.add({ teamId, numberId, ...report }, report.status === 'sent' ? 'shared' : 'alone'),
  };
}
