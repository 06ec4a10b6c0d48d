import { GroupCommit } from '#server/database/group-commit.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { findKeyword } from '#server/opt-outs/keyword.ts';
import { unavailable } from '#server/platform/app-error.ts';
import { phoneCommitWindowMs, phonesWaitingMax, sharedTextMaxCharacters } from './limits.ts';
import { type InboundText, receiveTexts, type TextOutcome } from './receive-texts.ts';

export interface ReceiveBatcher {
  /** Stores an inbound message. @param runAlone stores one that can't share a transaction with others */
  readonly receive: <Outcome>(
    text: InboundText,
    runAlone: () => Promise<Outcome>,
  ) => Promise<Outcome | TextOutcome>;
}

/** Stores inbound texts in a group commit. Files, keywords and very long texts need a transaction of their own. */
export function createReceiveBatcher(
  services: Pick<Runtime, 'config' | 'database' | 'clock' | 'ids' | 'metrics'>,
): ReceiveBatcher {
  const shared = new GroupCommit<InboundText, TextOutcome>({
    name: 'texts',
    metrics: services.metrics,
    run: (texts) => receiveTexts(services, texts),
    isTransaction: true,
    teamOf: ({ device }) => device.teamId,
    windowMs: phoneCommitWindowMs,
    waitingMax: phonesWaitingMax,
    refuse: () => unavailable('Too many texts arrive at once. Deliver this one again in a moment.'),
  });
  return {
    receive: (text, runAlone) => (isCommon(text) ? shared.add(text, runAlone) : runAlone()),
  };
}

function isCommon({ inbound: { text, media } }: InboundText): boolean {
  return !media && text.length <= sharedTextMaxCharacters && !findKeyword(text);
}
