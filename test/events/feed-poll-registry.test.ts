import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FeedPoll, FeedPollRegistry, heldFeedRequestsMax } from '#server/events/list-events.ts';
import { Ids, type TeamId } from '#server/platform/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';

const ids = new Ids(new Clock());
const connected = new AbortController().signal;

describe('held requests for events in a process (specification section 4.5)', () => {
  function held(feedPolls: FeedPollRegistry, teamId: TeamId, position = 7) {
    const poll = new FeedPoll({ teamId, position });
    return { poll, ended: feedPolls.hold(teamId, poll, connected, () => poll.untilEnded()) };
  }

  it('a process holds at most 20 long polls of a team and 2,000 in all (§4.5/held-requests)', async () => {
    const feedPolls = new FeedPollRegistry();
    const teams = Array.from({ length: 100 }, () => ids.next('team'));
    const all = teams.flatMap((teamId) =>
      Array.from({ length: heldFeedRequestsMax.ofKey }, () => {
        assert.equal(feedPolls.fullFor(teamId), undefined);
        return held(feedPolls, teamId);
      }),
    );
    assert.equal(all.length, 2_000);
    const [first, ...others] = all;
    assert.ok(first);
    assert.equal(feedPolls.fullFor(first.poll.position.teamId), 'ofKey');
    const stranger = ids.next('team');
    assert.equal(feedPolls.fullFor(stranger), 'ofProcess');
    for (let repeats = 0; repeats < 2; repeats += 1) first.poll.end('timeout');
    await first.ended;
    assert.equal(feedPolls.fullFor(stranger), undefined);
    const last = held(feedPolls, stranger);
    assert.equal(feedPolls.fullFor(stranger), 'ofProcess');
    for (const { poll } of others) poll.end('timeout');
    await Promise.all(others.map(({ ended }) => ended));
    assert.deepEqual(feedPolls.positions, [last.poll.position]);
  });

  it('the long polls of a team are answered by one read, which begins at their lowest position', () => {
    const feedPolls = new FeedPollRegistry();
    const teamId = ids.next('team');
    for (const position of [9, 3, 12]) held(feedPolls, teamId, position);
    assert.deepEqual(feedPolls.positions, [{ teamId, position: 3 }]);
  });

  it('all long polls end when the process stops, and a new one then ends at once (§4.5/long-poll)', async () => {
    const feedPolls = new FeedPollRegistry();
    const hold = () => held(feedPolls, ids.next('team'));
    const before = [hold(), hold()];
    feedPolls.stop();
    for (const { poll, ended } of [...before, hold()]) {
      await ended;
      assert.equal(poll.ended, 'stopping');
    }
  });
});
