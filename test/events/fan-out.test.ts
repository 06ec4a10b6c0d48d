import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { openRuntime } from '#server/app/open-runtime.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { writeFanOutDeliveries } from '#server/events/fan-out.ts';
import { listTeamsWithErasedEvents, noteErasedEvents } from '#server/webhooks/deliveries/erase-answers.ts';
import { refuseInsertsOf } from '#test/support/database/table-faults.ts';
import { putSubscriptions } from '#test/support/events/given-subscriptions.ts';
import {
  countDue,
  countFanOuts,
  earliestDue,
  writtenDeliveries,
} from '#test/support/events/stored-deliveries.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';
import { startReceiver } from '#test/support/webhooks/raw-receiver.ts';

const many = 2_000;

describe('an event for many webhooks (decision 0023) (§6.3/fan-out)', () => {
  // The service has no process role `deliver`, so an event's deliveries are written only when the test runs the
  // fan-out.
  let service: TestService;
  let other: Runtime;
  let team: TestTeam;
  let number: ConnectedNumber;

  before(async () => {
    service = await startTestService({ ROLES: 'api,maintain' });
    const { config, logger } = service.runtime;
    other = await openRuntime(config, service.databaseUrl, logger, service.clock);
  });
  after(async () => {
    await other.database.close();
    await service.close();
  });

  const newTeam = async (webhooks: number) => {
    team = await service.newTeam();
    number = await connectNumber(service, team);
    await putSubscriptions(service, team.id, webhooks);
  };
  /** Makes an event by cancelling a message. */
  const cancelOne = async () => {
    const id = await team.api.send({ from: number.phoneNumber, to: '+14155550199', content: 'hello' });
    const answer = await team.api.post(`/v1/messages/${id}/cancel`);
    assert.equal(answer.status, 200, answer.text);
  };
  const deliveries = () => writtenDeliveries(service, team.id);
  const counted = async () => (await deliveries()).length;
  const due = () => countDue(service, team.id);
  const fanOuts = () => countFanOuts(service, team.id);

  it('an event that is erased during its fan-out is noted, so that the answers to its deliveries are erased (§12.14/erased-answers)', async () => {
    await newTeam(101);
    await cancelOne();
    const [event] = await storedEvents(service, { teamId: team.id });
    assert.ok(event);
    await service.runtime.database.transaction(async (trx) => {
      await noteErasedEvents(trx, { teamId: team.id, eventIds: [event.id] });
      await writeFanOutDeliveries(other);
      assert.deepEqual(await listTeamsWithErasedEvents(trx), [{ team_id: team.id }]);
    });
    assert.equal(await counted(), 101);
  });

  it('deliveries that are written late are due when they are written, so that claims that passed their event see them', async () => {
    await newTeam(101);
    await cancelOne();
    service.clock.advance(60_000);
    const writtenAfter = service.clock.now();
    await writeFanOutDeliveries(service.runtime);
    const earliest = await earliestDue(service, team.id);
    assert.ok(
      earliest && earliest >= writtenAfter,
      `${earliest?.toISOString()}, ${writtenAfter.toISOString()}`,
    );
  });

  it('an event for 2,000 webhooks writes one row, and several processes then write each delivery once', async () => {
    await newTeam(many);
    await cancelOne();
    await cancelOne();
    assert.deepEqual([await counted(), await fanOuts()], [0, 2]);
    await Promise.all([
      writeFanOutDeliveries(service.runtime),
      writeFanOutDeliveries(other),
      writeFanOutDeliveries(service.runtime),
    ]);
    await writeFanOutDeliveries(other);
    const written = await deliveries();
    assert.deepEqual([written.length, await due()], [2 * many, 2 * many]);
    const pairs = new Set(written.map(({ eventId, webhookId }) => `${eventId} ${webhookId}`));
    assert.equal(pairs.size, 2 * many);
    const asUsual = written.filter((row) => row.status === 'pending' && row.isDue && row.isOfEventMoment);
    assert.equal(asUsual.length, 2 * many, 'as those that are written with their event');
    assert.equal(await fanOuts(), 0);
  });

  it('an event goes to the webhooks that exist at its time, and a disabled webhook gets a skipped delivery', async () => {
    await newTeam(300);
    const [first, second, third] = (await team.api.get('/v1/webhooks')).json.webhooks as { id: string }[];
    assert.equal((await team.api.put(`/v1/webhooks/${first?.id}`, { active: false })).status, 200);
    await cancelOne();
    assert.equal((await team.api.put(`/v1/webhooks/${second?.id}`, { active: false })).status, 200);
    assert.equal((await team.api.delete(`/v1/webhooks/${third?.id}`)).status, 200);
    await putSubscriptions(service, team.id, 10);
    await writeFanOutDeliveries(service.runtime);
    assert.deepEqual([await counted(), await due()], [299, 297]);
    assert.equal((await deliveries()).filter(({ status }) => status === 'skipped').length, 2);
  });

  it('teams are served round robin, so that many events of one team do not delay another’s event', async () => {
    await newTeam(many);
    const busy = team;
    for (let events = 0; events < 3; events += 1) await cancelOne();
    await newTeam(300);
    await cancelOne();
    await writeFanOutDeliveries(service.runtime, 1);
    assert.equal(await counted(), 300);
    team = busy;
    const written = await counted();
    assert.ok(written > 0 && written < many, `${written} of ${3 * many}`);
    await writeFanOutDeliveries(service.runtime);
    assert.equal(await counted(), 3 * many);
  });

  it('a team whose deliveries can’t be written delays no other team, and is retried', async () => {
    await newTeam(300);
    await cancelOne();
    const failing = team;
    const refusal = await refuseInsertsOf(service, failing.id, 'due_deliveries');
    // With eight other teams, some are after the failing team in any order.
    const others: TestTeam[] = [];
    for (let teams = 0; teams < 8; teams += 1) {
      await newTeam(101);
      await cancelOne();
      others.push(team);
    }
    const lines: string[] = [];
    const logger = pino({}, { write: (line) => void lines.push(line) });
    await writeFanOutDeliveries({ ...service.runtime, logger });
    for (const { id } of others) assert.equal((await writtenDeliveries(service, id)).length, 101);
    assert.equal((await writtenDeliveries(service, failing.id)).length, 0);
    assert.equal(lines.length, 1, 'once in a run');
    assert.match(String(lines[0]), /"level":50.*refuses_one_team/);
    assert.equal(JSON.parse(String(lines[0])).team, failing.publicId);
    await refusal.end();
    await writeFanOutDeliveries(service.runtime);
    assert.equal((await writtenDeliveries(service, failing.id)).length, 300);
  });

  it('an event of a running service reaches every webhook once', async () => {
    const receiver = await startReceiver();
    const sending = await startTestService({ EGRESS_ALLOW_CIDRS: '127.0.0.1' });
    try {
      const receiving = await sending.newTeam();
      const own = await connectNumber(sending, receiving);
      const url = `http://127.0.0.1:${receiver.port}/`;
      for (let webhooks = 0; webhooks < 120; webhooks += 1) {
        const made = await receiving.api.post('/v1/webhooks', { url, events: ['message.failed'] });
        assert.equal(made.status, 201, made.text);
      }
      const id = await receiving.api.send({ from: own.phoneNumber, to: '+14155550199', content: 'hello' });
      assert.equal((await receiving.api.post(`/v1/messages/${id}/cancel`)).status, 200);
      await until('all of them', () => receiver.requests.length === 120);
      await until('all are recorded', async () => {
        const written = await writtenDeliveries(sending, receiving.id);
        return written.filter(({ status }) => status === 'succeeded').length === 120;
      });
      assert.equal(receiver.requests.length, 120);
    } finally {
      await sending.close();
      await receiver.close();
    }
  });
});
