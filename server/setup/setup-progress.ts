import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import type { MessageStatus } from '#contract/message.ts';
import { anyText, type InboundTest, inboundTests } from '#server/devices/inbound-tests.ts';
import type { NumberRow } from '#server/numbers/number-store.ts';
import { removeHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { timeOfId } from '#server/platform/ids/ids.ts';
import { askedNone, chosenTests, type HandTick, handTicks } from './hand-ticks.ts';
import { lockTestMs, lockTextMaxMs, unlockAfterMs } from './limits.ts';
import type { PhoneAddress } from './phone-address.ts';
import type { SetupFactsRow } from './setup-store.ts';

/**
 * Names of the setup page's marks, one for each check by the server, in the order of its steps (specification section
 * 11.8).
 */
const markNames = ['address', 'poll', 'text', 'one_word', 'inbound', 'locked'] as const;
/** `answer_c`, for example, exists once the person has said that the team's texts ask for the letter C. */
export type MarkName = (typeof markNames)[number] | `answer_${string}`;

/** `busy`: the check has begun, and the server waits for the phone. */
export type MarkState = 'open' | 'busy' | 'done' | 'failed';

export interface Mark {
  readonly name: MarkName;
  readonly state: MarkState;
  readonly title: string;
  /** A sentence about the mark's state. */
  readonly detail: string;
  /** How to do this check once the page is closed, as a sentence. */
  readonly remedy: string;
  /** When the state began, if it is known and shown. */
  readonly since?: Date;
  /** When the person may unlock the iPhone. */
  readonly unlockAt?: Date;
  /** The step that helps after a failed check, by its number. */
  readonly nextStep?: number;
}

/** A line that the person ticks, with its state. */
export interface TickState extends HandTick {
  readonly isMade: boolean;
}

export interface InboundTestResult extends InboundTest {
  readonly passed: boolean;
}

export interface SetupProgress {
  /** True if a phone of the number has ever polled. */
  readonly isVerified: boolean;
  readonly marks: readonly Mark[];
  readonly ticks: readonly TickState[];
  /** Names of all ticks. */
  readonly ticked: readonly string[];
  readonly inboundTests: readonly InboundTestResult[];
  /** True once the device token was shown or claimed. */
  readonly claimed: boolean;
  readonly lockTest: LockTestState;
  /** The recipient of the last test text. */
  readonly testRecipient: string | undefined;
  readonly textCount: number;
}

/** The test text that was accepted last. */
export interface TestText {
  readonly to: string;
  readonly status: MessageStatus;
  /** Why the text failed, if it did, as a sentence. */
  readonly error: string;
}

export interface ProgressInput {
  readonly number: Pick<NumberRow, 'phone_number'>;
  readonly facts: SetupFactsRow;
  readonly testText: TestText | undefined;
  /** The text of the lock test, once it was accepted. */
  readonly lockText: TestText | undefined;
  /** `openAt` is the address at which an iPhone requested the page; undefined for other requests. */
  readonly address: PhoneAddress & { readonly openAt: string | undefined };
  readonly now: Date;
  /** How long a session lives after its last answer: a phone that is silent for longer has stopped. */
  readonly sessionLifeMs: number;
}

/** Computes the state of each mark from what the server has seen. Pure. */
export function setupProgress(input: ProgressInput): SetupProgress {
  const { facts, testText, number } = input;
  const received = facts.received_tests ?? [];
  const results = inboundTests.map((test) => ({ ...test, passed: received.includes(test.name) }));
  const lockTest = lockTestState(input);
  return {
    isVerified: facts.is_verified,
    marks: [
      addressMark(input),
      pollMark(facts),
      textMark(testText),
      oneWordMark(results),
      wordsMark(received),
      ...results.filter(({ name }) => chosenTests(facts.hand_ticks).includes(name)).map(answerMark),
      {
        name: 'locked',
        title: 'Still sending while locked',
        remedy: 'Lock the iPhone for three minutes, and have a text sent from its number meanwhile.',
        ...lockDetail(lockTest, input),
      },
    ],
    ticks: [
      ...handTicks(number.phone_number).map((tick) => ({
        ...tick,
        isMade: facts.hand_ticks.includes(tick.name),
      })),
      {
        name: 'asked',
        title: 'Answer the question about Y, C, 1 or 2',
        remedy: `Do your texts ask people to answer Y, C, 1 or 2? Then for each that they ask for: ${makeAutomation('that letter or digit')}`,
        isMade: facts.hand_ticks.includes(askedNone) || chosenTests(facts.hand_ticks).length > 0,
      },
    ],
    ticked: facts.hand_ticks,
    inboundTests: results,
    claimed: facts.device_id !== null,
    lockTest,
    testRecipient: testText?.to,
    textCount: facts.text_count,
  };
}

function addressMark(input: ProgressInput): Mark {
  const { facts, address } = input;
  const mark = {
    name: 'address',
    title: 'This iPhone reaches Ownline',
    remedy: 'Ask the operator of this server for an address with https that every iPhone reaches.',
  } as const;
  // Only simulated iPhones reach a loopback address, so a poll to such an address is not counted.
  const hasPolled = facts.session_id !== null && address.problem !== 'loopback';
  const isReachable = address.problem === undefined || address.problem === 'plain_http';
  const reached = hasPolled ? address.server : isReachable && address.openAt;
  if (reached) {
    const without = address.problem === 'plain_http' ? ', without https' : '';
    return { ...mark, state: 'done', detail: `This iPhone reaches ${reached}${without}.` };
  }
  if (isReachable) return { ...mark, state: 'open', detail: 'Open this page on the iPhone.' };
  return { ...mark, state: 'failed', detail: unreachableDetail(input) };
}

/**
 * Explains how a simulated iPhone can be connected at a loopback address, so that the marks `address` and `poll` agree.
 */
function unreachableDetail({ facts, address: { problem, url } }: ProgressInput): string {
  if (problem === 'private') return `An iPhone reaches ${url} in your own network only.`;
  if (facts.session_id === null) return `No iPhone reaches ${url}.`;
  const name = isolated(removeHiddenCharacters(facts.device_name ?? '') || 'a program');
  return `Only programs on this machine reach ${url}. One of them is connected: ${name}.`;
}

function pollMark({ session_id, device_name, system_version }: SetupFactsRow): Mark {
  const mark = {
    name: 'poll',
    title: 'iPhone is connected',
    remedy: 'Run Ownline Outbox in Shortcuts. Then ask a person of the team whether the iPhone is online.',
  } as const;
  if (session_id === null) return { ...mark, state: 'open', detail: 'Run Ownline Outbox on the iPhone.' };
  const name = removeHiddenCharacters(device_name ?? '');
  const version = removeHiddenCharacters(system_version ?? '');
  const system = version && `, iOS ${version}`;
  const detail = name ? `Connected: ${isolated(name)}${system}.` : 'Connected.';
  return { ...mark, state: 'done', detail, since: timeOfId(session_id) };
}

/** Isolates a name's writing direction from the rest of its sentence. */
const isolated = (name: string) => `\u2068${name}\u2069`;

export const isSent = (status: MessageStatus) => status === 'sent' || status === 'delivered';

function textMark(text: TestText | undefined): Mark {
  const mark = {
    name: 'text',
    title: 'iPhone sends texts',
    remedy: 'Have a text sent to your second phone in Ownline, with the iPhone unlocked: tap Always Allow.',
  } as const;
  if (!text) return { ...mark, state: 'open', detail: 'Send a test text.' };
  if (isSent(text.status))
    return { ...mark, state: 'done', detail: `The test text to ${formatPhoneNumber(text.to)} was sent.` };
  if (text.status === 'failed') return { ...mark, state: 'failed', detail: text.error };
  return {
    ...mark,
    state: 'busy',
    detail:
      text.status === 'queued'
        ? 'The iPhone sends it within half a minute. Watch the iPhone: tap Always Allow when it asks.'
        : 'The iPhone has the test text. Tap Always Allow if it asks.',
  };
}

const makeAutomation = (texts: string) =>
  `In Shortcuts: Automation, +, Message, Message Contains ${texts}, Run Immediately, Next, Ownline Inbound.`;

/**
 * Only the automation whose text is a single space proves that texts of several words come in, whatever their letters.
 */
function wordsMark(received: readonly string[]): Mark {
  const mark = {
    name: 'inbound',
    title: 'Replies of several words come in',
    remedy: `${makeAutomation('a single space')} Then text 7 pm to this number from another phone, and see in Ownline that it comes in.`,
  } as const;
  if (received.includes('space')) return { ...mark, state: 'done', detail: '7 pm came in.' };
  return received.includes(anyText)
    ? {
        ...mark,
        state: 'busy',
        detail: 'A text came in. Make the automation with a single space, then text 7 pm.',
      }
    : { ...mark, state: 'open', detail: 'Make the automation with a single space, then text 7 pm.' };
}

const listOf = (words: readonly string[]) => new Intl.ListFormat('en').format(words);

function oneWordMark(results: readonly InboundTestResult[]): Mark {
  const needed = results.filter(({ set, contains }) => set === 'needed' && contains !== ' ');
  const passed = needed.filter((test) => test.passed).length;
  const all = needed.map(({ reply }) => reply);
  const open = needed.filter((test) => !test.passed);
  const missing = open.map(({ reply }) => reply);
  const mark = {
    name: 'one_word',
    title: 'Replies of one word come in',
    remedy: `${makeAutomation(open.map(({ contains }) => contains).join(', '))}${open.length > 1 ? ' Make one for each letter.' : ''} Then text ${listOf(missing)} to this number, one at a time, and see in Ownline that each comes in.`,
  } as const;
  if (passed === needed.length) return { ...mark, state: 'done', detail: `${listOf(all)} came in.` };
  return {
    ...mark,
    state: passed > 0 ? 'busy' : 'open',
    detail: `Make the automation of each, then text ${listOf(missing)}, one at a time.`,
  };
}

/** The mark of a reply of one letter or digit that the team's texts ask for. */
function answerMark({ name, contains, reply, passed }: InboundTestResult): Mark {
  const letter = contains.toUpperCase();
  return {
    name: `answer_${name}`,
    title: `The reply ${letter} comes in`,
    state: passed ? 'done' : 'open',
    detail: passed ? `${reply} came in.` : `Make the automation with ${contains}, then text ${reply}.`,
    remedy: `${makeAutomation(contains)} Then text ${reply} to this number, and ask a person of the team whether it came in.`,
  };
}

export type LockTestState =
  | 'none'
  | 'running'
  | 'passed'
  | 'restarted'
  | 'silent'
  | 'silent_at_text'
  | 'slow'
  | 'text_refused'
  | 'text_failed'
  | 'text_late';

/**
 * Decides the lock test (specification section 11.8). It passes once the session that was current at its start has
 * polled for two minutes and sent the test's text. The count of its polls proves that it had no long gaps.
 */
function lockTestState({ facts, lockText, now, sessionLifeMs }: ProgressInput): LockTestState {
  const { lock_started_at: startedAt, lock_passed_at, last_seen_at: lastSeenAt } = facts;
  if (lock_passed_at) return 'passed';
  if (!startedAt || !lastSeenAt) return 'none';
  if (facts.lock_text_refusal !== null) return 'text_refused';
  if (lockText?.status === 'failed') return 'text_failed';
  if (facts.session_id !== facts.lock_session_id) return 'restarted';
  const polledForMs = lastSeenAt.getTime() - startedAt.getTime();
  const polls = (facts.poll_sequence ?? 0) - (facts.lock_poll_sequence ?? 0);
  const isOver = polledForMs >= lockTestMs;
  if (isOver && polls < polledForMs / sessionLifeMs) return 'slow';
  const hasSent = lockText !== undefined && isSent(lockText.status);
  if (isOver && hasSent) return 'passed';
  const silentMs = now.getTime() - Math.max(lastSeenAt.getTime(), startedAt.getTime());
  if (silentMs > sessionLifeMs) return lockText?.status === 'polling' ? 'silent_at_text' : 'silent';
  return !hasSent && polledForMs > lockTextMaxMs ? 'text_late' : 'running';
}

type Detail = Pick<Mark, 'state' | 'detail' | 'unlockAt' | 'nextStep'>;

/** Sentence with the causes of a failed lock test to check, the likeliest first. */
const firstCheck =
  'First check: is it on the charging cable (step 1)? Is Allow Running When Locked switched on for both shortcuts (step 2)?';

function lockDetail(state: LockTestState, { facts, lockText }: ProgressInput): Detail {
  const failed = (detail: string): Detail => ({ state: 'failed', detail });
  switch (state) {
    case 'none':
      return { state: 'open', detail: 'Lock the iPhone for three minutes.' };
    case 'running': {
      const hasSent = lockText !== undefined && isSent(lockText.status);
      const text = hasSent ? 'It has sent its test text.' : 'It sends a test text meanwhile.';
      return {
        state: 'busy',
        detail: `Keep the iPhone locked for three minutes. ${text}`,
        ...(facts.lock_started_at && {
          unlockAt: new Date(facts.lock_started_at.getTime() + unlockAfterMs),
        }),
      };
    }
    case 'passed':
      return { state: 'done', detail: 'It stayed connected and sent a text while it was locked.' };
    case 'restarted':
      return failed('Ownline Outbox ended and was started again meanwhile. Repeat the test.');
    case 'silent':
      return {
        ...failed(
          `The connection has ended. ${firstCheck} Then tap Run Ownline Outbox in step 3, and repeat the test.`,
        ),
        nextStep: 3,
      };
    case 'silent_at_text':
      return {
        ...failed(
          `The iPhone has stopped at the test text. ${firstCheck} Then tap Run Ownline Outbox in step 3, and repeat the test.`,
        ),
        nextStep: 3,
      };
    case 'slow':
      return failed('The iPhone was too slow. Put it on a charging cable, and repeat the test.');
    case 'text_refused':
      return failed(`The test text was not accepted: ${facts.lock_text_refusal}`);
    case 'text_failed':
      return failed(
        `The test text did not go out: ${lockText?.error} See in step 2 what the iPhone may do while locked, and repeat the test.`,
      );
    case 'text_late':
      return failed('The iPhone stayed connected, and its test text has not gone out. Repeat the test.');
  }
}
