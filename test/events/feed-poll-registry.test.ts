import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FeedPollRegistry } from '#server/events/feed-poll-registry.ts';
import { heldFeedRequestsMax } from '#server/events/limits.ts';
import { Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';

const ids = new Ids(new Clock());

describe('held requests for events in a process (specification section 4.5)', () => {
  it('a process holds at most 20 requests of a team and 2,000 in all (§4.5/held-requests)', () => {
    const feedPolls = new FeedPollRegistry();
    const teams = Array.from({ length: 100 }, () => ids.next('team'));
    const held = teams.flatMap((teamId) =>
      Array.from({ length: heldFeedRequestsMax.ofTeam }, () => {
        assert.equal(feedPolls.fullFor(teamId), undefined);
        return feedPolls.register({ teamId, position: 7 });
      }),
    );
    assert.equal(held.length, 2_000);
    const [first] = held;
    assert.ok(first);
    assert.equal(feedPolls.fullFor(first.position.teamId), 'team');
    const stranger = ids.next('team');
    assert.equal(feedPolls.fullFor(stranger), 'process');
    for (let repeats = 0; repeats < 2; repeats += 1) feedPolls.remove(first);
    assert.equal(feedPolls.fullFor(stranger), undefined);
    feedPolls.register({ teamId: stranger, position: 7 });
    assert.equal(feedPolls.fullFor(stranger), 'process');
    for (const reader of held) feedPolls.remove(reader);
    assert.deepEqual(feedPolls.positions, [{ teamId: stranger, position: 7 }]);
  });

  it('held requests of a team are answered by one read from the lowest position', () => {
    const feedPolls = new FeedPollRegistry();
    const teamId = ids.next('team');
    for (const position of [9, 3, 12]) feedPolls.register({ teamId, position });
    assert.deepEqual(feedPolls.positions, [{ teamId, position: 3 }]);
  });

  it('held requests end together when the process stops, and a new request then ends at once (§4.5/long-poll)', () => {
    const feedPolls = new FeedPollRegistry();
    const register = () => feedPolls.register({ teamId: ids.next('team'), position: 0 });
    const held = [register(), register()];
    feedPolls.stop();
    assert.deepEqual(
      [...held, register()].map((reader) => reader.ended),
      ['stopping', 'stopping', 'stopping'],
    );
  });
});
