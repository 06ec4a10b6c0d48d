import type { Mark, MarkName, MarkState, SetupProgress } from './setup-progress.ts';

/** A step of the setup page, with the marks that the server sets in it. */
interface SetupStep {
  readonly title: string;
  /** Empty where only the person at the iPhone sees the result. */
  readonly marks: readonly MarkName[];
}

/** The steps on the iPhone, in their order (specification section 11.8). */
export const setupSteps = [
  { title: 'Before you start', marks: ['address'] },
  { title: 'Install two shortcuts', marks: ['poll'] },
  { title: 'Let it send', marks: ['text'] },
  { title: 'Let replies come in', marks: ['inbound', 'one_word'] },
  { title: 'Keep it running', marks: [] },
  { title: 'Test it locked', marks: ['locked'] },
] as const satisfies readonly SetupStep[];

export const stepCount = setupSteps.length;

/** Numbers of steps, from 1. */
export const installStep = 2;
export const textStep = 3;
export const lockStep = 6;

function stepOf(name: MarkName): number {
  return setupSteps.findIndex(({ marks }) => (marks as readonly MarkName[]).includes(name)) + 1;
}

export function stepTitle(step: number): string {
  return setupSteps[step - 1]?.title ?? '';
}

export function marksOfStep({ marks }: SetupProgress, step: number): readonly Mark[] {
  return marks.filter(({ name }) => stepOf(name) === step);
}

export function isAllDone({ marks }: SetupProgress): boolean {
  return marks.every(({ state }) => state === 'done');
}

/** The state of a step from its marks. The step without marks is over once the test of the last step has begun. */
export function stepState(progress: SetupProgress, step: number): MarkState {
  const states = marksOfStep(progress, step).map(({ state }) => state);
  if (states.length === 0) return progress.lockTest === 'none' ? 'open' : 'done';
  if (states.every((state) => state === 'done')) return 'done';
  if (states.includes('failed')) return 'failed';
  return states.every((state) => state === 'open') ? 'open' : 'busy';
}

/** The first step that is not over; the last one where all are. The first step is over once the link was claimed. */
export function currentStep(progress: SetupProgress): number {
  const open = setupSteps.findIndex((_, index) =>
    index === 0 ? !progress.claimed : stepState(progress, index + 1) !== 'done',
  );
  return open < 0 ? stepCount : open + 1;
}
