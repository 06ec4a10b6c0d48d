import type { ReactNode } from 'react';
import type { SetupCheck, SetupCheckName } from '#contract/setup.ts';
import { Rich } from './rich.tsx';
import { useSetup } from './setup-context.ts';
import type { Texts } from './texts.ts';

type State = SetupCheck['state'];

const colours: Readonly<Record<State, string>> = {
  open: 'border-line-strong',
  busy: 'border-accent border-r-transparent animate-spin',
  done: 'border-good bg-good',
  failed: 'border-bad bg-bad',
};

const check = 'M6 12.5l4 4l8-9';
const cross = 'M8 8l8 8m0-8l-8 8';

/** A check mark or a cross. */
export function Mark({
  path = check,
  className,
}: {
  readonly path?: string;
  readonly className: string;
}): ReactNode {
  return (
    <svg aria-hidden="true" viewBox="0 0 24 24" fill="none" className={className}>
      <path d={path} strokeWidth="3" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

/** The circle that shows the state of a check, with its meaning for screen readers. */
export function Circle({ state }: { readonly state: State }): ReactNode {
  const { texts } = useSetup();
  const path = { open: '', busy: '', done: check, failed: cross }[state];
  return (
    <span className={`mt-0.5 inline-block size-5 shrink-0 rounded-full border-2 ${colours[state]}`}>
      <span className="sr-only">{texts.states[state]}</span>
      {path && <Mark path={path} className="size-full stroke-white dark:stroke-black" />}
    </span>
  );
}

interface CheckLineProps {
  readonly state: State;
  readonly title: ReactNode;
  readonly children?: ReactNode;
}

/** A check with its circle and a sentence. */
export function CheckLine({ state, title, children }: CheckLineProps): ReactNode {
  return (
    <div className="flex gap-2.5">
      <Circle state={state} />
      <div className={`min-w-0 ${state === 'done' ? 'text-good-ink' : ''}`}>
        {title}
        {children}
      </div>
    </div>
  );
}

/** A message of the server, which speaks English only. */
export function EnglishNote({ text }: { readonly text: string | null }): ReactNode {
  return (
    <p lang="en" className="text-sm text-quiet empty:hidden">
      {text}
    </p>
  );
}

/** The kind of a check: all checks of replies have the same kind. */
export const kindOf = (name: SetupCheckName) =>
  (name.startsWith('reply_') ? 'reply' : name) as keyof Texts['checks'];

/** The title of a check, which is true once the check is done. */
export function CheckTitle({ name }: { readonly name: SetupCheckName }): ReactNode {
  const { texts, state } = useSetup();
  const reply = state.replies.find((one) => name === `reply_${one.name}`)?.reply ?? '';
  return <Rich text={texts.checks[kindOf(name)]} values={{ reply }} />;
}
