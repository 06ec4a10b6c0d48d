import {
  arrivedTick,
  chargerTick,
  lockedPermissions,
  readyTick,
  receivedTick,
  restartTimes,
} from './hand-ticks.ts';
import type { Mark, MarkName, MarkState, SetupProgress, TickState } from './setup-progress.ts';

/** A step of the setup page: names of the server's checks (marks), and of the lines that the person ticks. */
interface SetupStep {
  readonly title: string;
  readonly marks: readonly MarkName[];
  readonly ticks: readonly string[];
}

const namesOf = (ticks: readonly { readonly name: string }[]) => ticks.map(({ name }) => name);

/** The steps on the iPhone, in order (specification section 11.8). */
export const setupSteps: readonly SetupStep[] = [
  { title: 'Before you start', marks: ['address'], ticks: [readyTick.name] },
  { title: 'Install two shortcuts', marks: [], ticks: namesOf(lockedPermissions) },
  { title: 'Let it send', marks: ['poll', 'text'], ticks: [arrivedTick.name] },
  { title: 'Let replies come in', marks: ['one_word', 'inbound'], ticks: ['asked'] },
  { title: 'Keep it running', marks: [], ticks: namesOf([...restartTimes(''), chargerTick]) },
  { title: 'Test it locked', marks: ['locked'], ticks: [receivedTick.name] },
];

export const stepCount = setupSteps.length;

/** The number of the step that installs the shortcuts; steps are counted from 1. */
export const installStep = 2;
export const sendStep = 3;
export const repliesStep = 4;
export const lockStep = 6;

export function stepTitle(step: number): string {
  return setupSteps[step - 1]?.title ?? '';
}

export function marksOfStep({ marks }: SetupProgress, step: number): readonly Mark[] {
  const isOfStep = (name: MarkName) =>
    name.startsWith('answer_') ? step === repliesStep : setupSteps[step - 1]?.marks.includes(name);
  return marks.filter(({ name }) => isOfStep(name));
}

export function ticksOfStep({ ticks }: SetupProgress, step: number): readonly TickState[] {
  return ticks.filter(({ name }) => setupSteps[step - 1]?.ticks.includes(name));
}

/** A remaining task: a check that has not passed, or a line that is not ticked. */
export interface RemainingTask {
  readonly step: number;
  readonly title: string;
  /** How to do the task once the page is closed, as a sentence. */
  readonly remedy: string;
}

export function listRemainingTasks(progress: SetupProgress): readonly RemainingTask[] {
  return setupSteps.flatMap((_, index) => {
    const step = index + 1;
    const marks = marksOfStep(progress, step).filter(({ state }) => state !== 'done');
    const ticks = ticksOfStep(progress, step).filter(({ isMade }) => !isMade);
    return [...marks, ...ticks].map(({ title, remedy }) => ({ step, title, remedy }));
  });
}

/** True if every check has passed; lines may still need a tick. */
export function areChecksDone({ marks }: SetupProgress): boolean {
  return marks.every(({ state }) => state === 'done');
}

/** The state of a step: done once its checks have passed and its lines are ticked. */
export function stepState(progress: SetupProgress, step: number): MarkState {
  const marks = marksOfStep(progress, step).map(({ state }) => state);
  const ticks = ticksOfStep(progress, step).map(({ isMade }): MarkState => (isMade ? 'done' : 'open'));
  const states = [...marks, ...ticks];
  if (states.every((state) => state === 'done')) return 'done';
  if (states.includes('failed')) return 'failed';
  return states.every((state) => state === 'open') ? 'open' : 'busy';
}

export function countDoneSteps(progress: SetupProgress): number {
  return setupSteps.filter((_, index) => stepState(progress, index + 1) === 'done').length;
}

/** The first step that is not done, or the last one if all are. The first step is done once the link was claimed. */
export function currentStep(progress: SetupProgress): number {
  const open = setupSteps.findIndex((_, index) =>
    index === 0 ? !progress.claimed : stepState(progress, index + 1) !== 'done',
  );
  return open < 0 ? stepCount : open + 1;
}
