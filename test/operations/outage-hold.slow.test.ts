import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { readRestoreState, resumeRestore } from '#server/dashboard/restore/resume-restore.ts';
import { operator } from '#server/platform/actor.ts';
import { startDatabasePair } from '#test/support/database/database-pair.ts';
import { connectNumber, takeMessage } from '#test/support/phones/test-phone.ts';
import { startMovingProxy } from '#test/support/proxies/moving-proxy.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

describe('the hold after a failover of the database that lost commits (specification section 10.8)', () => {
  const folder = givenFolder('ownline-outage-');
  const proxy = given(startMovingProxy);
  let service: TestService;
  let team: TestTeam;
  let number: Awaited<ReturnType<typeof connectNumber>>;
  const ids: Record<string, string> = {};

  const send = async (content: string) => {
    ids[content] = await team.api.send({ from: number.phoneNumber, to: '+12125550100', content });
  };
  const messageOf = async (name: string) => (await team.api.get(`/v1/messages/${ids[name]}`)).json;
  const lead = (socket: string) => {
    proxy.leadTo(socket);
    proxy.cut();
  };

  const pair = given(() =>
    startDatabasePair(folder, async (_, socket) => {
      proxy.leadTo(socket);
      service = await startTestService({ DATABASE_URL: proxy.url, PACING: 'off' });
      team = await service.newTeam();
      number = await connectNumber(service, team);
      for (const content of ['lost', 'queued']) await send(content);
    }),
  );
  given(
    () => ({}),
    () => service.close(),
  );

  before(async () => {
    lead(pair.olderSocket);
    await until('the phone gets the message', async () => {
      const { id } = await number.wire.poll().catch(() => ({ id: undefined }));
      return id === ids.lost;
    });
    lead(pair.newerSocket);
  });

  it('no message that was queued before goes out by itself, later ones do, and a person resumes (§10.8/outage-hold)', async () => {
    await until(
      'the queue is held',
      async () => (await messageOf('queued')).waiting_reason === 'held_after_outage',
    );
    assert.equal((await messageOf('lost')).waiting_reason, 'held_after_outage');
    await send('later');
    assert.equal((await takeMessage(number.wire)).id, ids.later);
    assert.equal((await number.wire.poll({ last: ids.later ?? '' })).action, 'idle');
    const readyz = await fetch(`${service.baseUrl}/readyz`);
    assert.partialDeepStrictEqual(await readyz.json(), { restore_hold: false, outage_hold: true });
    assert.equal((await number.wire.poll({ last: ids.lost ?? '' })).action, 'idle');
    assert.equal((await messageOf('lost')).status, 'sent', 'its phone sent it before the failover');
    const state = await readRestoreState(service.runtime, true);
    assert.partialDeepStrictEqual(state, {
      held: true,
      reason: 'outage',
      waiting: { messages: 1, deliveries: 0 },
    });
    await resumeRestore(service.runtime, operator, { cancelMessages: false, skipDeliveries: false });
    assert.equal((await takeMessage(number.wire)).id, ids.queued);
    assert.equal((await readRestoreState(service.runtime, true)).held, false);
  });
});
