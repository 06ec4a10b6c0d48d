import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { inboundTests } from '#server/devices/inbound-tests.ts';
import { AutomationQueue, type QueuedCall } from '#test/support/phones/automation-queue.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

/** Texts by the number of automations that pass them on. The server knows of ten of these fifteen automations. */
const texts = new Map([
  [5, 'Here I am at one'],
  [7, 'You are fine in a bit'],
  [10, 'Yes, count me in at 12'],
  [15, 'Yes, count me in at 12:30'],
]);

interface Case {
  readonly label: string;
  readonly calls: readonly QueuedCall[];
}

/**
 * The calls for one text, which arrives after runs that start Outbox were stored.
 * @param callsBefore calls that the server gets before the outage
 */
function caseOf(
  automations: number,
  runSeconds: number,
  starters: number,
  outageSeconds: number,
  callsBefore = 1,
): Case {
  const callsIf = (isServerAway: (atSeconds: number) => boolean) => {
    const queue = new AutomationQueue(runSeconds, isServerAway).startOutbox(0, 'the loop');
    for (let n = 0; n < starters; n += 1) queue.startOutbox(0, `starter ${n}`);
    return queue.receive(0, texts.get(automations) ?? '', automations).run();
  };
  const start = callsIf(() => false)[callsBefore - 1]?.atSeconds ?? 0;
  return {
    label: `${automations} automations, ${runSeconds} s a run, ${starters} starters, ${outageSeconds} s of outage after call ${callsBefore}`,
    calls: callsIf((at) => at > start && at <= start + outageSeconds),
  };
}

function casesOf(outages: readonly number[], runs = [2, 4, 6], starterCounts = [0, 8, 24]): Case[] {
  return [...texts.keys()].flatMap((automations) =>
    runs.flatMap((runSeconds) =>
      starterCounts.flatMap((starters) =>
        outages.map((outage) => caseOf(automations, runSeconds, starters, outage)),
      ),
    ),
  );
}

/** An outage of two minutes begins after the fourth call. */
function laterOutages(): Case[] {
  return [...texts.keys()].flatMap((automations) =>
    [2, 6].map((seconds) => caseOf(automations, seconds, 24, 120, 4)),
  );
}

/** An equal text comes 61 s after the last call for the first one. */
function twoAnswers(automations: number): Case {
  const text = texts.get(automations) ?? '';
  const first = new AutomationQueue(3).receive(0, text, automations).run();
  const second = Math.ceil(first.at(-1)?.atSeconds ?? 0) + 61;
  const queue = new AutomationQueue(3).receive(0, text, automations).receive(second, text, automations);
  return { label: `two answers, ${automations} automations`, calls: queue.run() };
}

/** Cases, and the marks of the messages that each makes. */
const tables = {
  tested: { cases: casesOf([0, 60, 120]), marks: 'false' },
  laterOutage: { cases: laterOutages(), marks: 'false' },
  untested: { cases: casesOf([0, 60, 120], [2, 6]), marks: 'false' },
  untestedLaterOutage: { cases: laterOutages(), marks: 'false' },
  untestedLongOutage: { cases: casesOf([300, 480], [3], [0, 24]), marks: 'false, true' },
  longOutage: { cases: casesOf([300, 480], [3], [0, 24]), marks: 'false, true' },
  twoAnswers: { cases: [...texts.keys()].map(twoAnswers), marks: 'false, false' },
} as const satisfies Readonly<Record<string, { readonly cases: readonly Case[]; readonly marks: string }>>;

describe('texts of a modelled queue of automations (specification section 11.5)', () => {
  const { service, team } = givenTeam({ ROLES: 'api' });
  const tested = given(() => connectTested());
  const untested = given(() => connectNumber(service, team));
  const ids = new Map<Case, Set<string>>();

  /** Connects a phone that passes all inbound tests. */
  async function connectTested(): Promise<ConnectedNumber> {
    const number = await connectNumber(service, team);
    await Promise.all(
      inboundTests.map(({ reply }) => number.wire.call('inbound', { from: '+12125550100', text: reply })),
    );
    return number;
  }

  /** Makes the calls of all cases at their times, each from a contact of its own. */
  async function makeCalls(
    phones: readonly { readonly number: ConnectedNumber; readonly cases: readonly Case[] }[],
  ) {
    const startMs = service.clock.nowMs();
    const calls = phones.flatMap(({ number, cases }) =>
      cases.flatMap((one) => {
        const made = new Set<string>();
        ids.set(one, made);
        const from = `+1212556${String(ids.size).padStart(4, '0')}`;
        return one.calls.map(({ atSeconds, text, run, again }) => ({
          atSeconds,
          call: async () =>
            made.add((await number.wire.call('inbound', { from, text, run, again })).id ?? ''),
        }));
      }),
    );
    // The calls of a case are at least two seconds apart, so all calls within two seconds are made at once.
    const rounds = Map.groupBy(calls, ({ atSeconds }) => 2 * Math.floor(atSeconds / 2));
    for (const [second, round] of [...rounds].toSorted(([a], [b]) => a - b)) {
      service.clock.advance(Math.max(0, startMs + second * 1_000 - service.clock.nowMs()));
      await Promise.all(round.map(({ call }) => call()));
    }
  }

  async function assertMarks({ cases, marks }: (typeof tables)[keyof typeof tables]): Promise<void> {
    const isMarked = async (id: string) =>
      (await team.api.get(`/v1/messages/${id}`)).json.possible_repeat === true;
    const stored = cases.map(async (one) => {
      const marksOf = await Promise.all([...(ids.get(one) ?? [])].map(isMarked));
      return `${one.label}: ${marksOf.join(', ')}`;
    });
    assert.deepEqual(
      await Promise.all(stored),
      cases.map(({ label }) => `${label}: ${marks}`),
    );
  }

  before(() =>
    makeCalls([
      {
        number: tested,
        cases: [
          ...tables.tested.cases,
          ...tables.laterOutage.cases,
          ...tables.longOutage.cases,
          ...tables.twoAnswers.cases,
        ],
      },
      {
        number: untested,
        cases: [
          ...tables.untested.cases,
          ...tables.untestedLaterOutage.cases,
          ...tables.untestedLongOutage.cases,
        ],
      },
    ]),
  );

  it('the model makes the calls of runs one after another, and runs that start Outbox come before a run’s second call', () => {
    const { calls } = caseOf(5, 3, 4, 0);
    assert.deepEqual(
      calls.slice(0, 3).map(({ atSeconds, run }) => [Number(atSeconds.toFixed(1)), run]),
      [
        [2.3, '1'],
        [13.3, '2'],
        [16.3, '3'],
      ],
    );
  });

  it('a received text becomes one message if the tests of its automations passed, also through an outage of two minutes', async () => {
    await assertMarks(tables.tested);
    await assertMarks(tables.laterOutage);
  });

  it('a received text becomes one message also if no test of its automations passed', async () => {
    await assertMarks(tables.untested);
    await assertMarks(tables.untestedLaterOutage);
  });

  it('a received text becomes two messages through a longer outage, and the second message is marked', async () => {
    await assertMarks(tables.longOutage);
    await assertMarks(tables.untestedLongOutage);
  });

  it('two equal replies become two messages if the second comes 61 s after the last call for the first', () =>
    assertMarks(tables.twoAnswers));

  it('a START that the automation queue posts again hours later, after a STOP, does not opt its sender in (§4.6/late-start)', async () => {
    const hour = 3_600;
    // The run that starts Outbox at 6 h waits at the head of the queue. It becomes the loop, which ends without a next
    // run.
    const calls = new AutomationQueue(3)
      .startOutbox(0, 'the loop')
      .startOutbox(6 * hour, 'a starter')
      .receive(7 * hour, 'START', 2)
      .endOutbox(7 * hour + 1)
      .receive(8 * hour, 'STOP', 1)
      .run();
    assert.deepEqual(
      calls.map(({ atSeconds, text }) => [Math.floor(atSeconds / hour), text]),
      [
        [7, 'START'],
        [8, 'STOP'],
        [8, 'START'],
      ],
    );
    await makeCalls([{ number: tested, cases: [{ label: 'a late START', calls }] }]);
    const { json } = await team.api.get('/v1/opt-outs');
    assert.equal(typeof field(json, 'opt_outs.0.ignored_start_at'), 'string');
  });

  it('iOS drops a text for an automation that fired less than a second before, and for no other automation', () => {
    const queue = new AutomationQueue(3).receive(0, 'No', 1).receive(0.9, 'No thanks', 2).receive(5, 'No', 1);
    assert.deepEqual(
      queue.run().map(({ text }) => text),
      ['No', 'No thanks', 'No'],
    );
    assert.equal(queue.dropped.length, 1, 'the automation of both');
  });
});
