import type { ReactNode } from 'react';
import {
  ByHandLink,
  InstallButton,
  NewAutomation,
  PollLine,
  SetupCodeButton,
  Start,
  Ticks,
} from './parts.tsx';
import { Say } from './rich.tsx';
import { numberOf, startTime, testedNumber, useSetup } from './setup-context.ts';
import { automationCounts, type Instruction, type PartName } from './steps.ts';
import { Arrived, LockButton, LockResult, MoreReplies, Replies, TestText } from './test-parts.tsx';

/** The parts of the page that belong to instructions: a button, a field or a list. */
const parts = {
  start: Start,
  inbound: () => <InstallButton name="inbound" />,
  outbox: () => <InstallButton name="outbox" />,
  code: SetupCodeButton,
  by_hand: () => <ByHandLink />,
  poll: PollLine,
  switches: () => <Ticks names={['switches']} />,
  text: TestText,
  arrived: Arrived,
  automation: NewAutomation,
  replies: Replies,
  more_replies: MoreReplies,
  starters: () => <Ticks names={['charger', 'wifi', 'time']} />,
  lock: LockButton,
  locked: LockResult,
} satisfies Readonly<Record<PartName, () => ReactNode>>;

/** Drawings of screens of the iPhone, without words. Their instructions say the same. */
const drawings = import.meta.glob<string>('./drawings/*.svg', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** An instruction with its drawing and its part of the page. */
export function InstructionLine({ text, drawing, part }: Instruction): ReactNode {
  const { texts, state, locale } = useSetup();
  const Part = part && parts[part];
  const number = numberOf(state);
  return (
    <li>
      <Say
        text={texts.instructions[text]}
        values={{ number, to: testedNumber(state), ...automationCounts, ...startTime(locale) }}
      />
      {drawing && (
        <div
          aria-hidden="true"
          className="mt-2 max-w-72 rounded-2xl border border-line bg-sunken p-3 [&_svg]:block [&_svg]:w-full"
          // biome-ignore lint/security/noDangerouslySetInnerHtml: a file of this folder
          dangerouslySetInnerHTML={{ __html: drawings[`./drawings/${drawing}.svg`] ?? '' }}
        />
      )}
      <div className="mt-2.5 empty:hidden">{Part && <Part />}</div>
    </li>
  );
}
