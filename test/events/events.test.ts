import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { revokeKey } from '#server/api-keys/revoke-keys.ts';
import { eventHistory } from '#server/events/erase-events.ts';
import { publishEvents } from '#server/events/publisher.ts';
import { operator } from '#server/platform/actor.ts';
import { type EventId, firstIdAt, publicId } from '#server/platform/ids.ts';
import { purgeHistory } from '#test/support/database/purge-history.ts';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { publishSilently } from '#test/support/events/given-publication.ts';
import { storedEvents } from '#test/support/events/stored-events.ts';
import { newMember } from '#test/support/people/people.ts';
import { type ApiAnswer, ApiClient, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { plantCanary } from '#test/support/service/canary.ts';
import { given, givenEach } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { putEvent, putEvents } from '#test/support/service/insert-events.ts';
import { startTestService } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

interface Page {
  readonly events: readonly Record<string, unknown>[];
  readonly cursor: string;
  readonly has_more: boolean;
  readonly gap: boolean;
}

describe('GET /v1/events (specification section 4.5)', () => {
  // The process role `api` publishes no events, so the test decides when an event gets its position.
  const service = givenService({ ROLES: 'api' });
  given(() => plantCanary(service));
  const looks = given(
    () => watchStatements(['events.feed-page', 'events.find-position']),
    (looks) => looks.stop(),
  );
  const team = givenEach(() => service.newTeam());

  const pageOf = (answer: ApiAnswer): Page => {
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as Page;
  };
  const get = async (query = '', api = team.api) => pageOf(await api.get(`/v1/events${query}`));
  const put = async (count: number, owner = team) => {
    await putEvents(service.runtime, owner.id, count);
    await publishEvents(service.runtime);
  };
  const idsOf = (page: Page) => page.events.map((event) => event.id);
  const stored = () => storedEvents(service, { teamId: team.id });
  interface Held {
    /** Resolves with the answer of the long poll. */
    readonly answer: Promise<{ readonly status: number; readonly json: unknown }>;
  }
  /** Sends a long poll and resolves once it is held. @returns undefined if the poll got no slot */
  const hold = async (query: string, api: ApiClient, signal?: AbortSignal): Promise<Held | undefined> => {
    looks.take();
    let refused = false;
    const answer = fetch(`${api.baseUrl}/v1/events${query}`, {
      headers: { 'x-api-key': api.key },
      ...(signal ? { signal } : {}),
    }).then(async (response) => {
      refused = response.status === 429;
      return { status: response.status, json: await response.json() };
    });
    answer.catch(() => undefined);
    let looked = 0;
    await until('it has looked twice, or was refused', () => {
      looked += looks.take().filter((name) => name === 'events.feed-page').length;
      return looked >= 2 || refused;
    });
    return refused ? undefined : { answer };
  };
  const held = async (query: string, api = team.api, signal?: AbortSignal): Promise<Held> => {
    const request = await hold(query, api, signal);
    assert.ok(request, 'there was no place for it');
    return request;
  };

  it('the feed of a team without events is empty, with "" for its cursor', async () => {
    assert.deepEqual(await get(), { events: [], cursor: '', has_more: false, gap: false });
  });

  it('the feed shows the stored envelopes unchanged, oldest first, page by page, each once (§6.2/envelope)', async () => {
    await put(7);
    const bodies = (await stored()).map((row) => row.body);
    const shown: string[] = [];
    const sizes: number[] = [];
    for (let cursor = ''; ; ) {
      const answer = await team.api.get(`/v1/events?limit=3${cursor === '' ? '' : `&after=${cursor}`}`);
      const page = pageOf(answer);
      for (const body of bodies.slice(shown.length, shown.length + page.events.length))
        assert.ok(answer.text.includes(body), `${answer.text} has not ${body}`);
      shown.push(...page.events.map((event) => JSON.stringify(event)));
      sizes.push(page.events.length);
      assert.equal(page.cursor, page.events.at(-1)?.id);
      cursor = page.cursor;
      if (!page.has_more) break;
    }
    assert.deepEqual(sizes, [3, 3, 1]);
    assert.deepEqual(shown, bodies);
    const end = shown.map((body) => JSON.parse(body).id).at(-1);
    assert.deepEqual(await get(`?after=${end}`), { events: [], cursor: end, has_more: false, gap: false });
  });

  it('a page has 1 to 100 events, and 50 without limit', async () => {
    await put(101);
    for (const [query, length] of [
      ['', 50],
      ['?limit=1', 1],
      ['?limit=100', 100],
    ] as const) {
      const page = await get(query);
      assert.deepEqual([page.events.length, page.has_more], [length, true]);
    }
  });

  it('an `after` that is no event id and an invalid wait or limit are refused with the name of the parameter (§4.5/after)', async () => {
    const wrong: [string, string][] = [
      [`after=${publicId('msg', service.runtime.ids.next('msg'))}`, 'after'],
      ['after=yesterday', 'after'],
      ['wait=26', 'wait'],
      ['wait=-1', 'wait'],
      ['wait=1.5', 'wait'],
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
    ];
    for (const [query, param] of wrong) {
      const answer = await team.api.get(`/v1/events?${query}`);
      assert.deepEqual([answer.status, field(answer.json, 'error.param')], [400, param], query);
    }
    const answer = await team.api.get('/v1/events?after=yesterday');
    assert.match(String(field(answer.json, 'error.message')), /Leave it out to begin with the oldest/);
  });

  it('an unknown id in `after` stands for its time: later events follow, and gap is true until the reader has a known cursor (§4.5/after, §4.5/gap)', async () => {
    const ids = [];
    for (let n = 0; n < 4; n += 1) {
      await put(1);
      service.clock.advance(10);
      ids.push(service.runtime.ids.next('evt'));
      service.clock.advance(10);
    }
    const known = idsOf(await get());
    for (const [n, id] of ids.entries()) {
      const page = await get(`?limit=2&after=${publicId('evt', id)}`);
      const events = known.slice(n + 1, n + 3);
      assert.deepEqual([idsOf(page), page.gap], [events, true]);
      assert.equal(page.cursor, events.at(-1) ?? publicId('evt', id));
      assert.equal((await get(`?after=${page.cursor}`)).gap, n === 3);
    }
    const early = publicId('evt', firstIdAt(0) as EventId);
    assert.deepEqual(
      [idsOf(await get(`?after=${early}`)), (await get(`?after=${early}`)).gap],
      [known, true],
    );
    const stranger = await service.newTeam();
    const page = await get(`?after=${known[1]}`, stranger.api);
    assert.deepEqual(page, { events: [], cursor: known[1], has_more: false, gap: true });
  });

  it('no event follows an `after` from the future, with and without wait (§4.5/after)', async () => {
    const after = publicId('evt', firstIdAt(service.clock.nowMs() + 3_600_000) as EventId);
    for (const events of [0, 1]) {
      await put(events);
      const waiting = await held(`?after=${after}&wait=25`);
      await put(1);
      await until('it has looked again', () => looks.take().includes('events.feed-page'));
      service.clock.advance(25_000);
      assert.deepEqual((await waiting.answer).json, await get(`?after=${after}`));
      assert.deepEqual(await get(`?after=${after}`), {
        events: [],
        cursor: after,
        has_more: false,
        gap: true,
      });
    }
  });

  it('after an unknown id the feed also shows an event that is newer but was committed before an older one (§4.5/after)', async () => {
    const unknown = await service.runtime.database.transaction(async (trx) => {
      await putEvent(trx, service.runtime, team.id);
      service.clock.advance(1);
      const id = service.runtime.ids.next('evt');
      service.clock.advance(1);
      await put(1);
      return id;
    });
    await publishEvents(service.runtime);
    const [newer, older] = idsOf(await get());
    assert.ok(newer && older && newer > older);
    assert.deepEqual(idsOf(await get(`?after=${publicId('evt', unknown)}`)), [newer, older]);
  });

  it('gap is true for a reader that missed a deleted event, and false for a reader that had read all deleted events (§4.5/gap)', async () => {
    await put(3);
    const [first, second, last] = idsOf(await get());
    const purge = () => purgeHistory(service, eventHistory);
    const gaps = async () => {
      const found = [];
      for (const after of [first, second, last]) found.push((await get(`?after=${after}`)).gap);
      return found;
    };
    assert.deepEqual(await gaps(), [false, false, false]);
    await purge();
    assert.deepEqual(await gaps(), [true, true, false]);
    const waiting = await held(`?after=${last}&wait=25`);
    await put(2);
    const { status, json } = await waiting.answer;
    assert.deepEqual([status, (json as Page).events.length, (json as Page).gap], [200, 2, false]);
    await purge();
    assert.deepEqual(await gaps(), [true, true, true]);
    assert.equal((await get(`?after=${(json as Page).cursor}`)).gap, false);
    assert.deepEqual(await get(), { events: [], cursor: '', has_more: false, gap: false });
  });

  it('an event that was deleted although it is newer than a kept event is a gap for the reader of the kept one (§4.5/gap)', async () => {
    await put(2);
    const [kept, deleted] = await stored();
    assert.ok(kept && deleted);
    await purgeHistory(service, eventHistory, deleted.id);
    assert.deepEqual(await get(`?after=${publicId('evt', kept.id)}`), {
      events: [],
      cursor: publicId('evt', kept.id),
      has_more: false,
      gap: true,
    });
  });

  it('the feed shows no event of another team, whatever position it begins at (§4.5/commit-order)', async () => {
    await put(1);
    const stranger = await service.newTeam();
    await put(3, stranger);
    const page = await get();
    assertEach(page.events, (event) => event.team_id, [team.publicId]);
    assert.deepEqual(await get(`?after=${page.cursor}`), {
      events: [],
      cursor: page.cursor,
      has_more: false,
      gap: false,
    });
  });

  it('a long poll is held without database queries until an event is published, by any process (§4.5/long-poll)', async () => {
    const other = await service.startAnother();
    await put(1);
    const { cursor } = await get();
    const waiting = [
      await held(`?after=${cursor}&wait=25`),
      await held(`?after=${cursor}&wait=25`, new ApiClient(other.baseUrl, team.api.key)),
    ];
    // Events of other teams wake no request.
    await put(1, await service.newTeam());
    assert.deepEqual(looks.take(), []);
    await put(2);
    const last = (await stored()).slice(1).map((row) => publicId('evt', row.id));
    for (const { status, json } of await Promise.all(waiting.map((request) => request.answer))) {
      assert.equal(status, 200);
      assert.deepEqual([idsOf(json as Page), field(json, 'cursor')], [last, last.at(-1)]);
    }
    await other.close();
  });

  it('a long poll counts as one request towards the rate limit, however long it is held', async (t) => {
    const limited = await startTestService({ ROLES: 'api', RATE_LIMITS: 'on' });
    t.after(() => limited.close());
    const { api, id } = await limited.newTeam();
    limited.clock.advance(60_000 - (limited.clock.nowMs() % 60_000));
    const left = async () => {
      const said = (await api.get('/v1/events')).headers.get('ratelimit') ?? '';
      return Number(/r=(\d+)/.exec(said)?.[1] ?? assert.fail(said));
    };
    const before = await left();
    const waiting = await held('?wait=25', api);
    await putEvents(limited.runtime, id, 1);
    await publishEvents(limited.runtime);
    assert.equal((await waiting.answer).status, 200);
    assert.equal(await left(), before - 2);
  });

  it('a long poll is answered by the next sweep if the notification of an event was lost (§4.5/long-poll)', async () => {
    const waiting = await held('?wait=25');
    await putEvents(service.runtime, team.id, 1);
    // A publisher that dies between its commit and its notification leaves the event in this state.
    await publishSilently(service, team.id);
    assert.equal(idsOf((await waiting.answer).json as Page).length, 1);
  });

  it('a long poll without an event is answered after its wait with an empty page and its `after` as the cursor (§4.5/long-poll)', async () => {
    await put(1);
    const { cursor } = await get();
    const waiting = await held(`?after=${cursor}&wait=25`);
    service.clock.advance(24_000);
    const later = await held('?wait=25', (await service.newTeam()).api);
    service.clock.advance(1_100);
    assert.deepEqual(await waiting.answer, {
      status: 200,
      json: { events: [], cursor, has_more: false, gap: false },
    });
    service.clock.advance(25_000);
    assert.deepEqual(await later.answer, {
      status: 200,
      json: { events: [], cursor: '', has_more: false, gap: false },
    });
  });

  it('a team may have 20 long polls at a time, and a further one gets 429 (§4.5/held-requests)', async () => {
    const leaving = new AbortController();
    const first = await held('?wait=25', team.api, leaving.signal);
    const others = [];
    for (let n = 1; n < 20; n += 1) others.push(await held('?wait=25'));
    const refused = await team.api.get('/v1/events?wait=25');
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1']);
    // Another team's long polls have their own slots, and a read without `wait` needs no slot.
    assert.equal((await team.api.get('/v1/events')).status, 200);
    const stranger = await held('?wait=25', (await service.newTeam()).api);
    leaving.abort();
    await assert.rejects(first.answer);
    const second = await until('there is a place', () => hold('?wait=25', team.api));
    service.clock.advance(25_000);
    const all = await Promise.all([...others, stranger, second].map((request) => request.answer));
    assert.ok(all.every((answer) => answer.status === 200));
  });

  it('a key that is revoked during its long poll gets 401, with an event and without one (§4.5/recheck-permission)', async () => {
    for (const [passedMs, events] of [
      [1_001, 1],
      [25_000, 0],
    ] as const) {
      const { id, key } = await service.makeKey(team.id, ['messages:read']);
      const { cursor } = await get('?limit=100');
      const waiting = await held(`?wait=25&after=${cursor}`, new ApiClient(service.baseUrl, key));
      await revokeKey(service.runtime, { keyId: id, by: operator });
      service.clock.advance(passedMs);
      await put(events);
      assert.equal((await waiting.answer).status, 401);
    }
  });

  it('a member who is removed during their long poll gets no events (§4.5/recheck-permission)', async () => {
    const member = await newMember(service, team, 'viewer');
    looks.take();
    const answer = member.get(member.in('/events?wait=25'));
    let looked = 0;
    await until('it is held', () => {
      looked += looks.take().length;
      return looked >= 2;
    });
    assert.equal((await team.api.delete(`/v1/team/members/${member.memberId}`)).status, 200);
    await put(1);
    // A person without a team is signed out.
    assert.equal((await answer).status, 401);
  });

  it('a long poll whose `after` names an event without a position waits until that event has one (§4.5/after)', async () => {
    await putEvents(service.runtime, team.id, 2);
    const [first, second] = await stored();
    assert.ok(first && second);
    const after = publicId('evt', first.id);
    const ask = async () => {
      looks.take();
      const answer = team.api.get(`/v1/events?after=${after}`);
      let asked = 0;
      await until('it has asked twice', () => {
        asked += looks.take().length;
        return asked >= 2;
      });
      return { answer };
    };
    const waiting = await ask();
    service.clock.advance(5_000);
    const unplaced = await waiting.answer;
    assert.deepEqual([unplaced.status, unplaced.headers.get('retry-after')], [503, '2']);
    const again = await ask();
    await publishEvents(service.runtime);
    assert.deepEqual(idsOf(pageOf(await again.answer)), [publicId('evt', second.id)]);
  });
});
