import type { ReactNode } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { TimelineActor, TimelineStep } from '#contract/timeline.ts';
import { classNames } from '#web/kit/class-names.ts';
import { StepTime } from '#web/kit/time.tsx';
import { fileSize } from './file-size.ts';
import { failureTexts } from './status-texts.ts';
import { texts as messageTexts } from './texts.ts';

const { steps: texts } = messageTexts;

export function TimelineSteps({ steps }: { readonly steps: readonly TimelineStep[] }): ReactNode {
  return (
    <ol className="flex flex-col">
      {steps.map((step) => (
        <li
          key={`${step.kind} ${step.at} ${step.details.hand_out}`}
          className="relative flex gap-3 pb-4 last:pb-0"
        >
          <span aria-hidden="true" className="flex flex-col items-center">
            <span className={classNames('mt-1.5 size-2.5 shrink-0 rounded-full', colours[step.kind])} />
            <span className="mt-1 w-px flex-1 bg-line" />
          </span>
          <div className="min-w-0 flex-1">
            <p>{sentenceOf(step)}</p>
            <p className="text-xs text-quiet">
              <StepTime at={step.at} />
            </p>
          </div>
        </li>
      ))}
    </ol>
  );
}

const colours: Readonly<Record<TimelineStep['kind'], string>> = {
  accepted: 'bg-line-strong',
  received: 'bg-line-strong',
  media_stored: 'bg-line-strong',
  handed_out: 'bg-accent',
  queued_again: 'bg-warn',
  sent: 'bg-accent',
  delivered: 'bg-good',
  failed: 'bg-bad',
  opted_out: 'bg-bad',
};

function sentenceOf({ kind, actor, details }: TimelineStep): string {
  const device = actor?.kind === 'device' && actor.name !== '' ? actor.name : texts.iphone;
  switch (kind) {
    case 'accepted':
      return accepted(actor);
    case 'received':
      return texts.received({ device });
    case 'media_stored':
      return details.media
        ? texts.fileStored({ name: details.media.name, size: fileSize(details.media.size_bytes) })
        : texts.aFileStored;
    case 'handed_out':
      return details.hand_out === 2 ? texts.tookAgain({ device }) : texts.took({ device });
    case 'queued_again':
      return texts.queuedAgain;
    case 'sent':
      return details.late ? texts.sentLate({ device }) : texts.sent({ device });
    case 'delivered':
      return texts.delivered({ device });
    case 'failed':
      return details.error_code
        ? `${failed(actor)} ${texts.reason({ reason: failureTexts[details.error_code] })}`
        : failed(actor);
    case 'opted_out':
      return texts.optedOut;
  }
}

/** Names who made a message fail: the person who cancelled it or deleted its number, or the contact who opted out. */
function failed(actor: TimelineActor | null): string {
  switch (actor?.kind) {
    case 'key':
      return texts.failedBecause.key({ name: actor.name });
    case 'member':
    case 'contact':
      return texts.failedBecause.person({ name: formatPhoneNumber(actor.name) });
    case 'operator':
      return texts.failedBecause.operator;
    default:
      return texts.failed;
  }
}

/** Names who sent a message. */
function accepted(actor: TimelineActor | null): string {
  switch (actor?.kind) {
    case 'key':
    case 'member':
      return texts.acceptedFrom[actor.kind]({ name: actor.name });
    case 'operator':
      return texts.acceptedFrom.operator;
    default:
      return texts.accepted;
  }
}
