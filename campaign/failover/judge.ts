import { cpus, loadavg, totalmem } from 'node:os';
import type { Restore } from '../cut.ts';
import { type EntryKind, type History, type Row, rowsOf } from '../history.ts';
import { group } from '../ledger.ts';
import type { Violation } from '../violation.ts';
import type { Scenario } from './scenarios.ts';

/** A scenario that ran, with times in ms since the epoch. */
export interface Result {
  readonly scenario: Scenario;
  readonly from: number;
  readonly to: number;
  /** A sentence about an answer that operators should have got; undefined if they got all. */
  readonly problem: string | undefined;
  readonly loss: Restore | undefined;
  /** How often it ran before, with a promotion of which it was no cause. */
  readonly repeats: number;
}

/** Limits of all scenarios, in seconds. A commit on the new primary is followed by a 202 within `afterCommit`. */
const [afterCommit, slowestSend, slowestReadiness] = [3, 13, 3];
/** A browser opens an ended stream again after 4 s at most, and hears of changes once a second. */
const dashboardOpens = 5;
/** A phone waits for 15 s after an answer that is not its server's. */
const phoneRepeats = 15 + 5;

/** The longest time between neighbours within bounds, which count as neighbours, too. */
function longestGap(times: readonly number[], { from, to }: Result) {
  const inside = [from, ...times.filter((at) => at > from && at < to), to];
  const gaps = inside.slice(1).map((end, index) => ({ end, ms: end - (inside[index] ?? end) }));
  return gaps.reduce((longest, gap) => (gap.ms > longest.ms ? gap : longest));
}

/** An error that a client may get: it says when to repeat the request, and 500 that its outcome is in doubt. */
function isHonest({ status, text, retryAfter }: Row<'send_answered'>): boolean {
  return (
    retryAfter !== null && (status === 503 || (status === 500 && text.includes('may have been accepted')))
  );
}

export function judge(
  result: Result,
  history: History,
  commits: readonly number[],
  violations: readonly Violation[],
) {
  const { scenario, from, to, problem, loss } = result;
  const { silentFor, phoneWaits = silentFor + phoneRepeats } = scenario;
  const isDuring = ({ at }: { readonly at: number }) => at >= from && at < to;
  const during = <D extends EntryKind>(kind: D) => rowsOf(history.rows, kind).filter(isDuring);
  /** The longest silence, in seconds, among all whose rows these are. */
  const silence = <R extends Row>(rows: readonly R[], ownerOf: (row: R) => string) =>
    Math.max(
      ...[...group(rows, ownerOf).values()].map(
        (own) =>
          longestGap(
            own.map(({ at }) => at),
            result,
          ).ms,
      ),
    ) / 1_000;
  const answers = during('send_accepted');
  const sends = during('send_answered');
  const committed = longestGap(commits, result).end;
  const resumed = answers.find(({ at }) => at >= committed)?.at ?? to;
  const slowest = (rows: readonly { readonly ms: number }[]) => Math.max(...rows.map(({ ms }) => ms)) / 1_000;
  const count = (status: number) => sends.filter((send) => send.status === status).length;
  const seen = {
    silent: silence(answers, () => ''),
    afterCommit: (resumed - committed) / 1_000,
    send: slowest(sends),
    readiness: slowest(during('readiness_answered')),
    phone: silence(during('handed_out'), ({ number }) => number),
    dashboard: silence(during('live_event'), ({ team }) => team),
  };
  const over = (what: string, seconds: number, limit: number) =>
    seconds <= limit ? [] : `${what} for ${seconds.toFixed(1)} s, limit ${limit} s`;
  const errors = sends.filter((send) => send.status >= 400 && (scenario.isSeamless || !isHonest(send)));
  const { startedAt = 0, held } = loss ?? {};
  const handed = rowsOf(history.rows, 'handed_out');
  const again = [...group(handed, ({ message }) => message).values()].filter((rows) =>
    rows.slice(1).some(({ at }) => held && at > startedAt && at < held.resumedAt),
  );
  const hasGap = during('feed_read').some(({ gap }) => gap);
  const broken = violations.filter(({ evidence: [first] }) => first && isDuring(first)).length;
  const faults = [
    over('no send was answered 202', seen.silent, silentFor),
    over('no send was answered 202 after a commit', seen.afterCommit, afterCommit),
    over('a send waited', seen.send, slowestSend),
    over('/readyz did not answer', seen.readiness, slowestReadiness),
    over('a phone got no message', seen.phone, phoneWaits),
    over('a dashboard heard nothing', seen.dashboard, silentFor + dashboardOpens),
    errors.map(({ status, text }) => `a send was answered ${status}: ${text.slice(0, 200)}`).slice(0, 3),
    problem ?? [],
    again.map(([row]) => `${row?.message} went out again by itself`).slice(0, 3),
    hasGap === (loss !== undefined) ? [] : `a reader of the feed was ${hasGap ? '' : 'not '}told of a gap`,
    broken === 0 ? [] : `${broken} violations`,
  ].flat();
  return { ...result, ...seen, accepted: answers.length, e500: count(500), e503: count(503), faults };
}

type Verdict = ReturnType<typeof judge>;

const seconds = (value: number) => value.toFixed(1);

const columns: Readonly<Record<string, (row: Verdict) => string | number>> = {
  goal: ({ scenario }) => scenario.goal,
  harm: ({ scenario }) => scenario.name,
  sends: ({ accepted }) => accepted,
  'no 202 (s)': ({ silent }) => seconds(silent),
  limit: ({ scenario }) => scenario.silentFor,
  'after a commit': ({ afterCommit: after }) => seconds(after),
  'slowest send': ({ send }) => seconds(send),
  'with 500': ({ e500 }) => e500,
  'with 503': ({ e503 }) => e503,
  'phone waited': ({ phone }) => seconds(phone),
  dashboard: ({ dashboard }) => seconds(dashboard),
  '/readyz': ({ readiness }) => seconds(readiness),
  repeats: ({ repeats }) => repeats,
  holds: ({ faults }) => (faults.length === 0 ? 'yes' : 'no'),
};

/** Draws a table for a document, with the date and the machine. */
export function drawTable(verdicts: readonly Verdict[]): string {
  const [core] = cpus();
  const day = new Date().toISOString().slice(0, 10);
  const memory = Math.round(totalmem() / 2 ** 30);
  const load = loadavg().map((value) => value.toFixed(0));
  const machine = `${day}, ${cpus().length} cores (${core?.model.trim()}), ${memory} GB, load ${load.join(', ')}`;
  const headings = Object.keys(columns);
  const rows = verdicts.map((verdict) => Object.values(columns).map((show) => show(verdict)));
  const lines = [headings, headings.map(() => '---'), ...rows];
  return [machine, '', ...lines.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');
}
