import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inboundTests } from '#server/devices/inbound-tests.ts';
import { AutomationQueue, type QueuedCall } from '#test/support/phones/automation-queue.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

/** Texts by the number of automations that pass them on. The server knows ten of the fifteen. */
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

/** The calls for one text, which comes after starters of Outbox were stored, and before an outage. */
function caseOf(automations: number, runSeconds: number, starters: number, outageSeconds: number): Case {
  const text = texts.get(automations) ?? '';
  const queue = new AutomationQueue(
    runSeconds,
    (at) => at > runSeconds && at <= runSeconds + outageSeconds,
  ).startOutbox(0, 'the loop');
  for (let n = 0; n < starters; n += 1) queue.startOutbox(0, `starter ${n}`);
  return {
    label: `${automations} automations, ${runSeconds} s a run, ${starters} starters, ${outageSeconds} s of outage`,
    calls: queue.receive(0, text, automations).run(),
  };
}

function casesOf(outages: readonly number[], runs = [2, 3, 4, 6], starterCounts = [0, 8, 24]): Case[] {
  return [...texts.keys()].flatMap((automations) =>
    runs.flatMap((runSeconds) =>
      starterCounts.flatMap((starters) =>
        outages.map((outage) => caseOf(automations, runSeconds, starters, outage)),
      ),
    ),
  );
}

describe('texts of a modelled queue of automations (specification section 11.5)', () => {
  const { service, team } = givenTeam({ ROLES: 'api' });
  const known = given(() => connectTested());
  const unknown = given(() => connectNumber(service, team));
  let senders = 0;

  /** Connects a phone that passes all inbound tests. */
  async function connectTested(): Promise<ConnectedNumber> {
    const number = await connectNumber(service, team);
    await Promise.all(
      inboundTests.map(({ reply }) => number.wire.call('inbound', { from: '+12125550100', text: reply })),
    );
    return number;
  }

  /** Makes the calls of all cases at their times, each from a contact of its own. @returns the marks of the messages */
  async function messagesOf({ wire }: ConnectedNumber, cases: readonly Case[]): Promise<boolean[][]> {
    const startMs = service.clock.nowMs();
    const calls = cases.flatMap(({ calls: ofCase }) => {
      senders += 1;
      const from = `+1212555${String(senders).padStart(4, '0')}`;
      return ofCase.map((call) => ({ ...call, from }));
    });
    const answers: { readonly from: string; readonly id: string | undefined }[] = [];
    const bySecond = Map.groupBy(calls, ({ atSeconds }) => Math.floor(atSeconds));
    for (const [second, together] of [...bySecond].toSorted(([a], [b]) => a - b)) {
      service.clock.advance(Math.max(0, startMs + second * 1_000 - service.clock.nowMs()));
      const made = together.map(async ({ from, text, run }) => {
        const { id } = await wire.call('inbound', { from, text, run });
        return { from, id };
      });
      answers.push(...(await Promise.all(made)));
    }
    const stored = Map.groupBy(answers, ({ from }) => from);
    return Promise.all(
      [...stored.values()].map(async (ofSender) => {
        const ids = [...new Set(ofSender.map(({ id }) => id))];
        if (ids.length === 1) return [false];
        return Promise.all(
          ids.map(async (id) => (await team.api.get(`/v1/messages/${id}`)).json.possible_repeat === true),
        );
      }),
    );
  }

  const summaryOf = (cases: readonly Case[], messages: readonly boolean[][]) =>
    cases.map(({ label }, n) => `${label}: ${messages[n]?.join(', ')}`);
  const all = (cases: readonly Case[], marks: string) => cases.map(({ label }) => `${label}: ${marks}`);

  it('the model makes one call of each run, one after another, and starters run before the second', () => {
    const { calls } = caseOf(3, 3, 4, 0);
    assert.deepEqual(
      calls.map(({ atSeconds, run }) => [Number(atSeconds.toFixed(1)), run]),
      [
        [2.3, '1'],
        [13.3, '2'],
        [16.3, '3'],
      ],
    );
  });

  it('one text is one message if the tests of its automations passed, also through an outage of two minutes', async () => {
    const cases = casesOf([0, 60, 120]);
    assert.deepEqual(summaryOf(cases, await messagesOf(known, cases)), all(cases, 'false'));
  });

  it('one text is one message if no test of its automations passed, and at most two after an outage', async () => {
    const cases = casesOf([0]);
    assert.deepEqual(summaryOf(cases, await messagesOf(unknown, cases)), all(cases, 'false'));
    const outages = casesOf([120], [3], [0, 24]);
    assert.deepEqual(summaryOf(outages, await messagesOf(unknown, outages)), all(outages, 'false, false'));
  });

  it('a longer outage makes at most one more message, which is marked', async () => {
    const cases = casesOf([300, 600], [3], [0, 24]);
    assert.deepEqual(summaryOf(cases, await messagesOf(known, cases)), all(cases, 'false, true'));
  });

  it('two equal answers are two messages, if the second comes 61 s after the last call for the first', async () => {
    const [[automations = 0, text = ''] = []] = texts;
    const first = new AutomationQueue(3).receive(0, text, automations).run();
    const second = Math.ceil(first.at(-1)?.atSeconds ?? 0) + 61;
    const calls = new AutomationQueue(3)
      .receive(0, text, automations)
      .receive(second, text, automations)
      .run();
    assert.deepEqual(await messagesOf(known, [{ label: 'two answers', calls }]), [[false, false]]);
  });

  it('a START that the queue runs again hours later, after a STOP, does not opt its sender in (§4.6/late-start)', async () => {
    const hour = 3_600;
    // A starter of 6 h waits at the head of the queue. It becomes the loop that ends with no next run.
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
    await messagesOf(known, [{ label: 'a late START', calls }]);
    const { json } = await team.api.get('/v1/opt-outs');
    assert.equal(typeof field(json, 'opt_outs.0.ignored_start_at'), 'string');
  });

  it('iOS drops a text for an automation that fired less than a second before, and only for this one', () => {
    const queue = new AutomationQueue(3).receive(0, 'No', 1).receive(0.9, 'No thanks', 2).receive(5, 'No', 1);
    assert.deepEqual(
      queue.run().map(({ text }) => text),
      ['No', 'No thanks', 'No'],
    );
    assert.equal(queue.dropped.length, 1, 'the automation of both');
  });
});
