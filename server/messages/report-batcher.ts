import { GroupCommit, skipped } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { confirmSentMessages, type SentReport } from './confirm-sent.ts';
import { phoneCommitWindowMs, phonesWaitingMax } from './limits.ts';
import { type Report, type ReportingDevice, reportMessage } from './report-message.ts';

export interface ReportBatcher {
  /**
   * Applies a report as `reportMessage` does, if possible in a group commit.
   * @param withPermit runs a report that needs a transaction of its own
   */
  readonly report: (
    device: ReportingDevice,
    report: Report,
    withPermit: <T>(work: () => Promise<T>) => Promise<T>,
  ) => Promise<boolean>;
}

/**
 * Confirms the common report, a message in flight that was sent, in a group commit. Every other report runs in a
 * transaction of its own, which looks at the message's history.
 */
export function createReportBatcher(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'metrics'>,
): ReportBatcher {
  const shared = new GroupCommit<SentReport, boolean>({
    name: 'reports',
    metrics: services.metrics,
    run: async (reports) => {
      const sent = await confirmSentMessages(services, reports);
      return reports.map(({ messageId }) => sent.has(messageId) || skipped);
    },
    isTransaction: true,
    teamOf: ({ teamId }) => teamId,
    windowMs: phoneCommitWindowMs,
    waitingMax: phonesWaitingMax,
    refuse: () => unavailable('Too many phones report at once. Report again in a moment.'),
  });
  return {
    report: (device, report, withPermit) => {
      const runAlone = () => withPermit(() => reportMessage(services, device, report));
      const { messageId, sessionId, status } = report;
      if (status !== 'sent' || sessionId === undefined) return runAlone();
      const { teamId, numberId } = device;
      return shared.add({ teamId, numberId, messageId, sessionId }, runAlone);
    },
  };
}
