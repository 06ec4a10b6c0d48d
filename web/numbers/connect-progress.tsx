import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import type { HomeNumber, SetupLinkState } from '#contract/home.ts';
import { Spinner } from '#web/kit/button.tsx';
import { classNames } from '#web/kit/class-names.ts';
import { Note } from '#web/kit/error-note.tsx';
import { Hint } from '#web/kit/text.tsx';
import { texts } from './texts.ts';

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
      <ol aria-label={texts.progress.label} aria-live="polite" className="flex flex-col gap-3">
        <Step state={isClaimed ? 'done' : 'busy'} title={texts.progress.opens}>
          {isClaimed ? texts.progress.opened : texts.progress.waits}
        </Step>
        <Step state={isConnected ? 'done' : isClaimed ? 'busy' : 'open'} title={texts.progress.asks}>
          {isConnected
            ? texts.progress.asked
            : isClaimed
              ? texts.progress.installs
              : texts.progress.afterInstall}
        </Step>
      </ol>
      {isConnected && (
        <Note tone="good" icon={<Check />}>
          <p className="font-semibold">
            {texts.progress.connected({
              iPhone: <bdi>{number?.device_name || texts.progress.theIPhone}</bdi>,
            })}
          </p>
          <p>{texts.progress.canSend}</p>
        </Note>
      )}
    </div>
  );
}

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
          <span className="sr-only"> {texts.progress.steps[state]}</span>
        </p>
        <Hint>{children}</Hint>
      </div>
    </li>
  );
}
