import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { peersChannel } from '#server/database/channels.ts';
import { NotificationListener } from '#server/database/listener.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { Peers } from '#server/device-protocol/peers.ts';
import { givenRuntime } from '#test/support/service/given-runtime.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

describe('the processes that claim messages, as they know each other (decision 0060)', () => {
  const service = givenService({ ROLES: 'maintain' });
  const [one, other] = [givenRuntime(service), givenRuntime(service)];

  const listen = async (peers: Peers, { logger, database }: Runtime) => {
    const listener = new NotificationListener(service.databaseUrl, logger, database);
    listener.on(peersChannel, (payload) => peers.notify(payload));
    await listener.start();
    return listener;
  };

  it('a killed process is forgotten after a while in which this one hears itself, and not while the database is away', async (t) => {
    const [peers, killed] = [new Peers(one), new Peers(other)];
    other.database.timeline.checked = 1;
    const [ears, otherEars] = [await listen(peers, one), await listen(killed, other)];
    killed.announce();
    const beat = () => Promise.all(peers.loops.map((loop) => loop.runOnce()));
    const names = await until('they know each other', () => peers.claiming.length > 0 && peers.claiming);
    assert.deepEqual(names, [killed.id]);
    assert.equal(one.database.processes, 2);
    await otherEars.stop();
    await ears.stop();
    for (let beats = 0; beats < 10; beats += 1) await beat();
    assert.deepEqual(peers.claiming, [killed.id]);
    const heard = await listen(peers, one);
    t.after(() => heard.stop());
    await until('it is forgotten', async () => {
      await beat();
      return peers.claiming.length === 0;
    });
    assert.equal(one.database.processes, 1);
  });
});
