import type { ReactNode } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { TimelineActor, TimelineStep } from '#contract/timeline.ts';
import { classNames } from '#web/kit/class-names.ts';
import { StepTime } from '#web/kit/text.tsx';
import { failureTexts } from './status-texts.ts';

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
  const device = actor?.kind === 'device' && actor.name !== '' ? actor.name : 'The iPhone';
  switch (kind) {
    case 'accepted':
      return `Ownline accepted the message${by(actor)}.`;
    case 'received':
      return `${device} received the message.`;
    case 'media_stored':
      return details.media
        ? `The file ${details.media.name} was stored (${sizeOf(details.media.size_bytes)}).`
        : 'The file was stored.';
    case 'handed_out':
      return details.hand_out === 2
        ? `${device} took the message a second time.`
        : `${device} took the message.`;
    case 'queued_again':
      return 'The iPhone did not say what became of it, so the message waits for a second hand-out.';
    case 'sent':
      return details.late
        ? `${device} reported late that the message was sent.`
        : `${device} sent the message.`;
    case 'delivered':
      return `${device} reported that the message was delivered.`;
    case 'failed':
      return `The message failed${because(actor)}. ${details.error_code ? `${failureTexts[details.error_code]}.` : ''}`.trim();
    case 'opted_out':
      return 'With this message the contact opted out. Nothing more is sent to this contact.';
  }
}

/** Names who made a message fail: the person who cancelled it or deleted its number, or the contact who opted out. */
function because(actor: TimelineActor | null): string {
  switch (actor?.kind) {
    case 'key':
      return ` because of a request with the API key “${actor.name}”`;
    case 'member':
      return ` because of ${actor.name}`;
    case 'operator':
      return ' because of a command of the operator';
    case 'contact':
      return ` because of ${formatPhoneNumber(actor.name)}`;
    default:
      return '';
  }
}

/** Names who sent a message. */
function by(actor: TimelineActor | null): string {
  switch (actor?.kind) {
    case 'key':
      return ` from the API key “${actor.name}”`;
    case 'member':
      return ` from ${actor.name}`;
    case 'operator':
      return ' from the operator';
    default:
      return '';
  }
}

function sizeOf(bytes: number): string {
  return bytes < 100_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
