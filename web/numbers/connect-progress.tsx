import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import type { HomeNumber, SetupLinkState } from '#contract/home.ts';
import { Spinner } from '#web/kit/button.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { Note } from '#web/kit/error-note.tsx';
import { Hint } from '#web/kit/text.tsx';

type StepState = 'done' | 'busy' | 'open';

/** The progress of an iPhone: first it claims the setup link, then it polls. */
export function ConnectProgress({
  progress,
  number,
}: {
  readonly progress: SetupLinkState;
  readonly number: HomeNumber | undefined;
}): ReactNode {
  const isConnected = progress === 'polled';
  const isClaimed = progress === 'claimed' || isConnected;
  return (
    <div className="flex flex-col gap-4">
      <ol aria-label="Progress" aria-live="polite" className="flex flex-col gap-3">
        <Step state={isClaimed ? 'done' : 'busy'} title="The iPhone opens the link">
          {isClaimed ? 'It has opened the link.' : 'Waiting for the iPhone …'}
        </Step>
        <Step state={isConnected ? 'done' : isClaimed ? 'busy' : 'open'} title="The iPhone asks for messages">
          {isConnected
            ? 'Its first request came in.'
            : isClaimed
              ? 'Install both shortcuts on the iPhone and run Ownline Outbox …'
              : 'After both shortcuts are installed.'}
        </Step>
      </ol>
      {isConnected && (
        <Note tone="good" icon={<Check />}>
          <p className="font-semibold">
            <bdi>{number?.device_name || 'The iPhone'}</bdi> is connected
          </p>
          <p>
            Messages can be sent now. Go on with the steps on the iPhone: they test replies and keep it
            running.
          </p>
        </Note>
      )}
    </div>
  );
}

const stepWords: Readonly<Record<StepState, string>> = {
  done: 'Done',
  busy: 'In progress',
  open: 'Not yet',
};

function Step({
  state,
  title,
  children,
}: {
  readonly state: StepState;
  readonly title: string;
  readonly children: ReactNode;
}) {
  return (
    <li className="flex gap-3">
      <span
        className={classNames(
          'mt-px grid size-5 shrink-0 place-items-center rounded-full',
          state === 'done' && 'bg-good-tint text-good-ink',
          state === 'busy' && 'text-accent-ink',
          state === 'open' && 'border-2 border-line-strong',
        )}
      >
        {state === 'done' && <Check aria-hidden="true" className="size-3.5" strokeWidth={3} />}
        {state === 'busy' && <Spinner />}
      </span>
      <div>
        <p className="font-medium">
          {title}
          <span className="sr-only"> ({stepWords[state]})</span>
        </p>
        <Hint>{children}</Hint>
      </div>
    </li>
  );
}
