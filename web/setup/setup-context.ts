import { createContext, useContext } from 'react';
import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { FileForm, SetupState } from '#contract/setup.ts';
import { clockTimeFor, timeOfDay } from '#web/kit/format.ts';
import type { SetupConnection, SetupSnapshot } from './setup-connection.ts';
import { type Step, startHour, steps } from './steps.ts';
import type { Texts } from './texts.ts';

interface Setup extends Omit<SetupSnapshot, 'phase'> {
  readonly texts: Texts;
  /** Decides how times are written. */
  readonly locale: string;
  readonly connection: SetupConnection;
  /** The form of the shortcuts; undefined until the server, the browser or the person has said it. */
  readonly form: FileForm | undefined;
}

export const SetupContext = createContext<Setup | undefined>(undefined);

/** The setup and its texts. Every component of an open link has a state. */
export function useSetup(): Setup & { readonly state: SetupState } {
  // The page of a link that is over has no state, and reads the texts only.
  return useContext(SetupContext) as Setup & { readonly state: SetupState };
}

/** True if a step is done: the first step once the link was claimed, any other step once its checks are done. */
export function isStepDone(state: SetupState, { name, checks }: Step): boolean {
  if (name === 'prepare') return state.code !== null;
  const own = state.checks.filter((check) => checks.test(check.name));
  return own.length > 0 && own.every((check) => check.state === 'done');
}

export const isAllDone = ({ checks }: SetupState) => checks.every(({ state }) => state === 'done');

/** The number that the link connects, in one line. */
export const numberOf = ({ number }: SetupState) =>
  formatPhoneNumber(number.phone_number).replaceAll(' ', '\u00a0');

/** The number of the second phone, if a test text went to it. */
export const testedNumber = ({ text }: SetupState) =>
  text.to ? formatPhoneNumber(text.to).replaceAll(' ', '\u00a0') : '…';

export const forms: readonly FileForm[] = [27, 26];

export const stepsOf = (form: FileForm | undefined) => steps[form ?? 27];

/** The time at which an automation starts Ownline Outbox, as the iPhone shows it. */
export const startTime = (locale: string) => ({
  time: timeOfDay(new Date(2026, 0, 1, startHour), clockTimeFor(locale)),
});
