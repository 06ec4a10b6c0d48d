import type { FileForm, SetupCheck, SetupCheckName, SetupTick } from '#contract/setup.ts';
import { inboundTests } from '#server/devices/inbound-tests.ts';
import { deviceUrlOf } from '#server/devices/setup-link.ts';
import type { Config } from '#server/platform/config.ts';
import { timeOfId } from '#server/platform/ids.ts';
import { type AddressProblem, findAddressProblem } from '#server/platform/network/unreachable-links.ts';
import { oldShortcutAfterMs } from './limits.ts';
import { type LockTestInput, lockChecks } from './lock-test.ts';
import type { SetupFactsRow } from './setup-store.ts';
import { isSent, type TestText } from './test-text.ts';

/** The addresses that an iPhone uses: its shortcuts call `server`, and the setup page is at APP_URL. */
interface PhoneAddress {
  readonly server: string;
  /** Why iPhones can't use one of the two addresses everywhere, or not safely; undefined if they can. */
  readonly problem: AddressProblem | undefined;
  /** The address with the problem, and the setting to change. */
  readonly url: string;
  readonly setting: string;
}

/** Finds the addresses of a team's iPhones, and what is wrong with them. */
export function findPhoneAddress(
  config: Pick<Config, 'baseUrl' | 'appUrl' | 'deviceUrl'>,
  routingTag: string,
): PhoneAddress {
  const server = deviceUrlOf(config, routingTag);
  const setting = config.deviceUrl === config.baseUrl ? 'BASE_URL' : 'DEVICE_URL';
  const problem = findAddressProblem(server);
  const pageProblem = findAddressProblem(config.appUrl);
  if (problem === undefined && pageProblem !== undefined)
    return { server, problem: pageProblem, url: config.appUrl, setting: 'APP_URL' };
  return { server, problem, url: server, setting };
}

/** Things that a person ticks, because the server can't see them. */
export const setupTicks = [
  'switches',
  'arrived',
  'charger',
  'wifi',
  'time',
] as const satisfies readonly SetupTick[];

export interface ProgressInput extends LockTestInput {
  readonly form: FileForm | null;
  /** The test text that was accepted last. */
  readonly text: TestText | undefined;
  readonly address: PhoneAddress;
  /** The address at which an iPhone requested the page; undefined for other requests. */
  readonly openAt: string | undefined;
}

/** The form of shortcut files for a phone: once the phone has polled, its iOS decides; before that, the person. */
export function formOf({ session_id, system_version, form }: SetupFactsRow): FileForm | null {
  const [major] = (session_id !== null && /\d+/.exec(system_version ?? '')) || [];
  if (major === undefined) return form;
  return Number(major) >= 27 ? 27 : 26;
}

/** Computes the setup checks from what the server has seen, in the order of its steps. Pure. */
export function setupChecks(input: ProgressInput): readonly SetupCheck[] {
  const { facts, form } = input;
  const received = facts.received_tests ?? [];
  const flag = (name: SetupCheckName, isDone: boolean): SetupCheck => ({
    name,
    state: isDone ? 'done' : 'open',
    reason: null,
  });
  const tick = (name: SetupTick) => flag(name, facts.ticks.includes(name));
  const replies = inboundTests
    .filter(({ set }) => set === 'needed')
    .map(({ name }) => flag(`reply_${name}`, received.includes(name)));
  return [
    addressCheck(input),
    pollCheck(input),
    ...(form === 26 ? [] : [tick('switches')]),
    textCheck(input.text),
    tick('arrived'),
    ...replies,
    ...(form === 26 ? [tick('charger'), tick('wifi'), tick('time')] : []),
    ...lockChecks(input),
  ];
}

function addressCheck({ facts, address: { problem }, openAt }: ProgressInput): SetupCheck {
  // Only simulated iPhones reach a loopback address, so a poll to such an address is not counted.
  const hasPolled = facts.session_id !== null && problem !== 'loopback';
  const isReachable = problem === undefined || problem === 'plain_http';
  const isReached = hasPolled || (isReachable && openAt !== undefined);
  const state = isReached ? 'done' : isReachable ? 'open' : 'failed';
  return { name: 'address', state, reason: problem ?? null };
}

function pollCheck({ facts, form, now, sessionLifeMs }: ProgressInput): SetupCheck {
  // The phone may have iOS 27, and the shortcuts for iOS 17 to 26, which have no automations to switch on.
  const hasOtherForm = facts.form === 26 && form === 27 && !facts.ticks.includes('switches');
  if (facts.session_id !== null)
    return { name: 'poll', state: 'done', reason: hasOtherForm ? 'other_form' : null };
  return runsOldShortcut(facts, now, sessionLifeMs)
    ? { name: 'poll', state: 'failed', reason: 'old_shortcut' }
    : { name: 'poll', state: 'open', reason: null };
}

/**
 * Whether an older link's shortcut polls although this link was claimed. Its session began after the claim, or it polls
 * for longer than a person needs to replace the shortcut.
 */
function runsOldShortcut(
  { claimed_at, other_session_id, other_seen_at }: SetupFactsRow,
  now: Date,
  sessionLifeMs: number,
): boolean {
  if (!claimed_at || !other_session_id || !other_seen_at) return false;
  if (now.getTime() - other_seen_at.getTime() > sessionLifeMs || other_seen_at <= claimed_at) return false;
  const isStartedSince = timeOfId(other_session_id) > claimed_at;
  return isStartedSince || now.getTime() - claimed_at.getTime() > oldShortcutAfterMs;
}

function textCheck(text: TestText | undefined): SetupCheck {
  const check = { name: 'text', reason: null } as const;
  if (!text) return { ...check, state: 'open' };
  if (isSent(text.status)) return { ...check, state: 'done' };
  if (text.status === 'failed') return { ...check, state: 'failed' };
  return { ...check, state: 'busy', reason: text.status === 'queued' ? 'queued' : 'handed_out' };
}
