import { GroupCommit } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { findKeyword } from '#server/opt-outs/keyword.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { phoneCommitWindowMs, phonesWaitingMax } from './limits.ts';
import { type InboundText, receiveTexts, type TextOutcome } from './receive-texts.ts';

export interface ReceiveBatcher {
  /** Stores an inbound message. @param runAlone stores one that can't share a transaction with others */
  readonly receive: <Outcome>(
    text: InboundText,
    runAlone: () => Promise<Outcome>,
  ) => Promise<Outcome | TextOutcome>;
}

/** Stores inbound texts in a group commit. Messages with a file and keywords run in a transaction of their own. */
export function createReceiveBatcher(
  services: Pick<Runtime, 'config' | 'database' | 'clock' | 'ids' | 'metrics'>,
): ReceiveBatcher {
  const shared = new GroupCommit<InboundText, TextOutcome>({
    run: (texts) => receiveTexts(services, texts),
    teamOf: ({ device }) => device.teamId,
    windowMs: phoneCommitWindowMs,
    waitingMax: phonesWaitingMax,
    refuse: () => unavailable('Too many texts arrive at once. Deliver this one again in a moment.'),
  });
  return {
    receive: (text, runAlone) => {
      const { media, text: content } = text.inbound;
      return media || findKeyword(content) ? runAlone() : shared.add(text, runAlone);
    },
  };
}
