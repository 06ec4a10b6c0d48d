import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { watchStatements } from '#test/support/database/watch-statements.ts';
import { KeptConnections } from '#test/support/http/raw-http.ts';
import { newMember } from '#test/support/people/people.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';

const perMinute = 60;

describe('unknown session cookies (§12.3/refused-sessions)', () => {
  const { service, team } = givenTeam({ RATE_LIMITS: 'on' });
  const member = given(() => newMember(service, team, 'member'));
  const connections = given(() => new KeptConnections(service.baseUrl, 16));

  const ask = (value: string, path = '/app/account') =>
    connections.ask({ method: 'GET', path, headers: { host: 'localhost', cookie: value } });
  const madeUp = () => `ownline=${randomBytes(32).toString('base64url')}`;
  const statusesOf = async (cookies: readonly string[]) => {
    const answers = await Promise.all(cookies.map((value) => ask(value)));
    return Object.fromEntries(
      [...Map.groupBy(answers, ({ status }) => status)].map(([status, of]) => [status, of.length]),
    );
  };
  const many = (count: number) => Array.from({ length: count }, madeUp);

  it('unknown session cookies get 401 up to a limit per client network and then 429, with few statements', async (t) => {
    nextMinute(service.clock);
    const watch = watchStatements(['account-sessions.find-live']);
    t.after(() => watch.stop());
    assert.deepEqual(await statusesOf(many(400)), { 401: perMinute, 429: 400 - perMinute });
    const shared = watch.take().length;
    assert.ok(shared > 0 && shared < 200, `${shared} statements for 400 cookies`);
    const wrong = madeUp();
    await ask(wrong);
    watch.take();
    assert.deepEqual(await statusesOf(Array.from({ length: 10 }, () => wrong)), { 429: 10 });
    assert.deepEqual(await statusesOf(['ownline=x', `${madeUp()}0`]), { 429: 2 });
    assert.deepEqual(watch.take(), [], 'refused from memory, or by their form');
  });

  it('unknown session cookies never make the server refuse a valid session or a page of their network', async () => {
    nextMinute(service.clock);
    await statusesOf(many(perMinute + 1));
    const { cookie: unseen } = await newMember(service, team, 'member');
    assert.deepEqual(await statusesOf([member.cookie, unseen, madeUp(), member.cookie]), { 200: 3, 429: 1 });
    assert.equal((await ask(madeUp(), '/sign-in')).status, 200);
  });

  it('an ended session is refused at once, even while its look-up is running', async () => {
    nextMinute(service.clock);
    const { cookie: ending } = await newMember(service, team, 'member');
    assert.equal((await ask(ending)).status, 200);
    const before = Array.from({ length: 20 }, () => ask(ending));
    const out = await connections.ask({
      method: 'POST',
      path: '/app/account/sign-out',
      headers: { host: 'localhost', origin: service.baseUrl, cookie: ending },
    });
    assert.ok(out.status < 300, `${out.status} ${out.body}`);
    assert.deepEqual(await statusesOf(Array.from({ length: 20 }, () => ending)), { 401: 20 });
    await Promise.all(before);
  });
});
