import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { publishNext } from '#server/events/feed-store.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { putEvents } from '#test/support/service/insert-events.ts';

describe('the end of the queue of events (decision 0017)', () => {
  const service = givenService({ ROLES: 'api' });

  it('the end of the queue is the position of the next event, also before the first event', async () => {
    const { database } = service.runtime;
    const publish = (from: number) => database.transaction((trx) => publishNext(trx, 10, from));
    const first = await publish(0);
    assert.equal(first.events, 0);
    await putEvents(service.runtime, (await service.newTeam()).id, 2);
    const next = await publish(first.after ?? Number.NaN);
    assert.equal(next.events, 2);
    assert.equal((await publish(next.after ?? Number.NaN)).after, next.after);
  });
});
