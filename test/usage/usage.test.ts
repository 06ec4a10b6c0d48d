import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { notifyUsageLimits } from '#server/usage/notify-usage-limits.ts';
import { storedMails } from '#test/support/mail/stored-mails.ts';
import { newMember, type TeamMember } from '#test/support/people/people.ts';
import { connectNumber, type DeviceWire } from '#test/support/phones/test-phone.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';

const dayMs = 86_400_000;
const [from, to] = ['+14155550100', '+14155550101'];

interface Usage {
  readonly month: string;
  readonly sent: number;
  readonly received: number;
  readonly monthly_message_limit: number;
  readonly resets_at: string;
  readonly days: readonly { readonly day: string; readonly sent: number; readonly received: number }[];
}

describe('the usage of a team', () => {
  let team: TestTeam;
  let viewer: TeamMember;
  let wire: DeviceWire;
  const service = givenService();

  before(async () => {
    // Noon on the tenth of a later month, far from midnight and from the end of a month.
    const now = service.clock.now();
    const noon = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 10, 12);
    service.clock.advance(noon - now.getTime());
    team = await service.newTeam({ plan: 'pro' });
    viewer = await newMember(service, team, 'viewer');
    ({ wire } = await connectNumber(service, team, from));
  });

  async function usage(query = ''): Promise<Usage> {
    const answer = await viewer.get(viewer.in(`/usage${query}`));
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as Usage;
  }

  const send = () => team.api.send({ from, to, content: 'Hello' });

  it('usage counts sent and received messages by day, without those that failed before a hand-out', async () => {
    const today = service.clock.now().toISOString().slice(0, 10);
    await send();
    const cancelled = await send();
    await wire.call('inbound', { from: to, text: 'Hi' });
    await wire.call('inbound', { from: to, text: 'Hi' });
    await wire.call('inbound', { from: to, text: 'Hi again' });
    assert.equal((await team.api.post(`/v1/messages/${cancelled}/cancel`)).status, 200);
    const seen = await usage();
    assert.equal(seen.month, today.slice(0, 7));
    assert.deepEqual([seen.sent, seen.received, seen.monthly_message_limit], [1, 2, 10_000]);
    assert.equal(seen.days.length, 10, 'every day up to today');
    assert.deepEqual(seen.days.at(-1), { day: today, sent: 1, received: 2 });
    assert.deepEqual(seen.days[0], { day: `${today.slice(0, 8)}01`, sent: 0, received: 0 });
  });

  it('a refund changes the day on which the message was accepted, and the days add up to the month', async () => {
    const before = await usage();
    const ids = [await send(), await send()];
    service.clock.advance(dayMs);
    await send();
    assert.equal((await team.api.post(`/v1/messages/${ids[0]}/cancel`)).status, 200);
    const seen = await usage();
    assertEach(seen.days.slice(-2), (day) => day.sent, [(before.days.at(-1)?.sent ?? 0) + 1, 1]);
    assert.equal(
      seen.sent,
      seen.days.reduce((sum, day) => sum + day.sent, 0),
    );
  });

  it('the usage of any month can be read, even without messages, and other values are refused', async () => {
    const old = await usage('?month=2024-02');
    assert.deepEqual([old.month, old.sent, old.received, old.days.length], ['2024-02', 0, 0, 29]);
    assert.equal(old.resets_at, '2024-03-01T00:00:00.000Z');
    const coming = await usage('?month=2199-01');
    assert.deepEqual([coming.sent, coming.days.length], [0, 0]);
    for (const month of ['2024-13', '2024', 'x']) {
      const answer = await viewer.get(viewer.in(`/usage?month=${month}`));
      assert.equal(answer.status, 400, month);
    }
  });

  it('quota notices are recorded even without mail, and the usage shows them', async () => {
    const small = await service.newTeam({ plan: 'pro', monthlyLimit: 5 });
    const owner = await newMember(service, small, 'owner');
    await connectNumber(service, small, '+14155550120');
    const notices = async () => {
      await notifyUsageLimits(service.runtime);
      const { json } = await owner.get(owner.in('/usage'));
      return (json.notices as { percent: number }[]).map(({ percent }) => percent);
    };
    for (const expected of [[], [], [], [80], [80, 100]]) {
      await small.api.send({ from: '+14155550120', to, content: 'Hello' });
      assert.deepEqual(await notices(), expected);
    }
    assert.deepEqual(await storedMails(service), []);
  });
});
