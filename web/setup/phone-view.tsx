import { type ReactNode, useEffect, useReducer, useRef, useState } from 'react';
import { setupMinutes } from '#contract/setup-minutes.ts';
import { surface } from '#web/kit/card.tsx';
import { AddressBox, ByHandNote, useIsByHand } from './address-note.tsx';
import { Mark } from './check-line.tsx';
import { AllDone, EndEarly } from './closed-page.tsx';
import { InstructionLine } from './instruction-line.tsx';
import { isStepDone, stepsOf, useSetup } from './setup-context.ts';
import { isShown, type Step } from './steps.ts';

const progressLook =
  'mt-1 mb-3 h-1.5 w-full appearance-none overflow-hidden rounded-full bg-line [&::-webkit-progress-bar]:bg-line [&::-webkit-progress-value]:bg-good';

/** The steps on the iPhone, one of them open. */
export function PhoneView(): ReactNode {
  const { texts, state, form } = useSetup();
  const steps = stepsOf(form);
  const done = steps.filter((step) => isStepDone(state, step));
  const [open, toggle] = useOpenStep(steps, done);
  if (useIsByHand())
    return (
      <AddressBox>
        <ByHandNote />
      </AddressBox>
    );
  return (
    <AddressBox>
      <p className="mt-2 text-quiet">{texts.intro({ minutes: setupMinutes[form ?? 27] })}</p>
      <p role="status" className="mt-4 text-sm font-medium">
        {texts.progress({ done: done.length, count: steps.length })}
      </p>
      <progress aria-hidden="true" className={progressLook} value={done.length} max={steps.length} />
      <AllDone />
      {steps.map((step, index) => (
        <StepBox
          key={step.name}
          step={step}
          number={index + 1}
          isOpen={open === step.name}
          onToggle={() => toggle(step.name)}
        />
      ))}
      <EndEarly />
    </AddressBox>
  );
}

/**
 * Decides which step is open: the one that the person opened, until it is done, and otherwise the first step that is
 * not done. While the person types, no step closes.
 */
function useOpenStep(steps: readonly Step[], done: readonly Step[]) {
  const [chosen, choose] = useState<Step['name'] | 'none'>();
  const [, look] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    document.addEventListener('focusout', look);
    return () => document.removeEventListener('focusout', look);
  }, []);
  const doneNames = done.map(({ name }) => name);
  const doneBefore = useRef(doneNames);
  useEffect(() => {
    const isNew = doneNames.some((name) => name === chosen && !doneBefore.current.includes(name));
    if (isNew) choose(undefined);
    doneBefore.current = doneNames;
  });
  const first = steps.find((step) => !done.includes(step))?.name;
  const settled = useRef(first);
  if (!document.activeElement?.matches('input[type=tel]')) settled.current = first;
  const open = chosen ?? settled.current;
  useShownStep(open);
  return [open, (name: Step['name']) => choose(name === open ? 'none' : name)] as const;
}

/** Scrolls to a step that has opened by itself. If the focus was in the closed step, it moves to the heading. */
function useShownStep(name: string | undefined): void {
  const shown = useRef(name);
  useEffect(() => {
    if (name === shown.current) return;
    shown.current = name;
    const heading = document.getElementById(`step-${name}`);
    if (!heading || heading === document.activeElement) return;
    heading.scrollIntoView({ block: 'start' });
    if (document.activeElement === document.body) heading.focus({ preventScroll: true });
  });
}

interface StepBoxProps {
  readonly step: Step;
  readonly number: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function StepBox({ step, number, isOpen, onToggle }: StepBoxProps): ReactNode {
  const { texts, state, form = 27 } = useSetup();
  const { name, instructions } = step;
  const isDone = isStepDone(state, step);
  const way = state.install[form].kind;
  const shown = instructions.filter((one) => isShown(one, way));
  const look = isDone ? 'bg-good-tint text-good-ink' : 'bg-accent-tint text-accent-ink';
  return (
    <section className={`mt-3 ${surface}`}>
      <h2>
        <button
          id={`step-${name}`}
          type="button"
          aria-expanded={isOpen}
          className="flex min-h-14 w-full scroll-mt-3 items-center gap-3 rounded-xl px-4 py-2 text-left text-lg font-semibold"
          onClick={onToggle}
        >
          <span className={`grid size-8 shrink-0 place-items-center rounded-full text-base ${look}`}>
            {isDone ? <Mark className="size-5 stroke-current" /> : <span aria-hidden="true">{number}</span>}
            <span className="sr-only">{(isDone ? texts.stepDone : texts.stepOpen)({ number })}</span>
          </span>
          {texts.steps[name]}
        </button>
      </h2>
      {isOpen && (
        <ol className="grid list-decimal gap-5 pt-1 pr-4 pb-5 pl-10 marker:text-quiet">
          {shown.map((one) => (
            <InstructionLine key={instructions.indexOf(one)} {...one} />
          ))}
        </ol>
      )}
    </section>
  );
}
