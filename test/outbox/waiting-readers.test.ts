import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readersMax, WaitingReaders } from '#server/outbox/waiting-readers.ts';
import { Clock } from '#server/platform/clock.ts';
import { Ids } from '#server/platform/ids.ts';

const ids = new Ids(new Clock());

describe('requests for events that a process holds (specification section 4.5)', () => {
  it('are 20 of a team and 2,000 in all; whoever ends gives the place back, once', () => {
    const readers = new WaitingReaders();
    const teams = Array.from({ length: 100 }, () => ids.next('team'));
    const held = teams.flatMap((teamId) =>
      Array.from({ length: readersMax.ofTeam }, () => {
        assert.equal(readers.fullFor(teamId), undefined);
        return readers.register({ teamId, position: 7 });
      }),
    );
    assert.equal(held.length, 2_000);
    const [first] = held;
    assert.ok(first);
    assert.equal(readers.fullFor(first.place.teamId), 'team');
    const stranger = ids.next('team');
    assert.equal(readers.fullFor(stranger), 'process');
    for (let repeats = 0; repeats < 2; repeats += 1) readers.remove(first);
    assert.equal(readers.fullFor(stranger), undefined);
    readers.register({ teamId: stranger, position: 7 });
    assert.equal(readers.fullFor(stranger), 'process');
    for (const reader of held) readers.remove(reader);
    assert.deepEqual(readers.places, [{ teamId: stranger, position: 7 }]);
  });

  it('are looked after from the place of the one that has come least far', () => {
    const readers = new WaitingReaders();
    const teamId = ids.next('team');
    for (const position of [9, 3, 12]) readers.register({ teamId, position });
    assert.deepEqual(readers.places, [{ teamId, position: 3 }]);
  });

  it('end together when the process stops, and one that comes later at once', () => {
    const readers = new WaitingReaders();
    const register = () => readers.register({ teamId: ids.next('team'), position: 0 });
    const held = [register(), register()];
    readers.stop();
    assert.deepEqual(
      [...held, register()].map((reader) => reader.ended),
      ['stopping', 'stopping', 'stopping'],
    );
  });
});
