import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isAuditAction } from '#server/audit/audit.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { newCookie, newMember, newPerson, PageClient, type TeamMember } from '#test/support/people/people.ts';
import { findNumber } from '#test/support/phones/test-phone.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { until } from '#test/support/service/until.ts';

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly actor: { readonly kind: string; readonly id: string; readonly name: string };
  readonly action: string;
  readonly target: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly outcome: string;
  readonly error_code: string;
  readonly ip: string;
  readonly request_id: string;
}

/**
 * Operations without an audit entry. A message stores its sender, a read mark concerns only the reader, and a setup
 * link has no account.
 */
const unaudited = [
  'POST /v1/messages/send',
  'POST /v1/media',
  'PUT /v1/conversations/:phone_number/:contact/waiting',
  'PUT /v1/conversations/:phone_number/:contact/read',
  'POST /setup/:token/by-hand',
];

describe('the audit log (specification section 12.6)', () => {
  const { service, team } = givenTeam();
  const owner = given(() => newMember(service, team, 'owner'));

  async function entries(person: TeamMember = owner, query = ''): Promise<Entry[]> {
    const answer = await person.get(person.in(`/audit${query}`));
    assert.equal(answer.status, 200, answer.text);
    return answer.json.entries as Entry[];
  }

  it('every state-changing operation has an action of the audit log', () => {
    const changing = service.app.routes.filter(
      ({ method, audience, admission }) =>
        method !== 'GET' &&
        (['api', 'team', 'account'].includes(audience) || (audience === 'page' && !admission?.ownToken)),
    );
    assert.ok(changing.length > 60);
    for (const { method, path, audit } of changing) {
      const name = `${method} ${path.replace('/app/teams/:team_id', '/v1')}`;
      if (unaudited.includes(name) || name.endsWith('/options')) continue;
      assert.ok(audit !== undefined && isAuditAction(audit), `${method} ${path}: ${audit}`);
    }
  });

  it('an audit entry has the actor, action, target, time, address and request id of a change (§12.6/audit-log)', async () => {
    const phoneNumber = '+14155550120';
    const verified = await owner.post(owner.in('/numbers/verify'), { phone_number: phoneNumber });
    assert.equal(verified.status, 200, verified.text);
    const id = String((await findNumber(team.api, phoneNumber))?.id);
    const [connected] = await entries();
    assert.deepEqual(connected, {
      id: connected?.id,
      at: connected?.at,
      actor: { kind: 'member', id: owner.memberId, name: owner.email },
      action: 'number.connected',
      target: id,
      details: { phone_number: phoneNumber },
      outcome: 'done',
      error_code: '',
      ip: '127.0.0.1',
      request_id: verified.headers.get('request-id'),
    });
    await team.api.put(`/v1/numbers/${id}`, { label: 'Support', status: 'paused' });
    await team.api.put(`/v1/numbers/${id}`, {});
    await team.api.post(`/v1/numbers/${id}/reconnect`);
    await team.api.delete(`/v1/numbers/${id}`);
    const latest = (await entries()).slice(0, 3);
    assertEach(
      latest,
      ({ action, actor }) => [action, actor.kind, actor.name],
      [
        ['number.deleted', 'key', 'test'],
        ['number.reconnected', 'key', 'test'],
        ['number.changed', 'key', 'test'],
      ],
      'and what changes nothing is not noted',
    );
    assert.deepEqual(latest[2]?.details, { label: 'Support', status: 'paused' });
    assert.match(latest[2]?.actor.id ?? '', /^key_/);
  });

  it('refusals of known callers are recorded with the reason, and change nothing (§12.6/audit-log)', async () => {
    const viewer = await newMember(service, team, 'viewer');
    const refused = await viewer.post(viewer.in('/numbers/verify'), {
      phone_number: '+14155550121',
    });
    assert.equal(refused.status, 403);
    const reader = await service.newKey(team.id, ['numbers:read']);
    assert.equal((await reader.put('/v1/numbers/num_nonsense', { label: 'x' })).status, 403);
    assert.equal((await owner.delete(owner.in('/keys/key_nonsense'))).status, 404);
    // The entry of a refusal is written after its answer.
    const seen = await until('three refusals', async () => {
      const found = (await entries()).filter(({ outcome }) => outcome === 'refused');
      return found.length === 3 && found;
    });
    assert.deepEqual(
      seen.map(({ action, actor, target, error_code }) => [actor.kind, action, target, error_code]).sort(),
      [
        ['key', 'number.changed', 'num_nonsense', 'forbidden'],
        ['member', 'key.revoked', 'key_nonsense', 'not_found'],
        ['member', 'number.connected', '', 'forbidden'],
      ],
    );
  });

  it('a change that is rolled back leaves no entry', async () => {
    const before = (await entries()).length;
    const made = await owner.post(owner.in('/keys'), { name: 'Key', permissions: ['nonsense'] });
    assert.equal(made.status, 400);
    // Waits for the refusal's entry, which follows the answer: the next tests read the log page by page.
    const all = await until('the refusal is recorded', async () => {
      const found = await entries();
      return found.some(({ outcome, action }) => outcome === 'refused' && action === 'key.created') && found;
    });
    const done = all.filter(({ outcome }) => outcome === 'done');
    assert.ok(done.length <= before);
    assert.ok(!done.some(({ details }) => JSON.stringify(details).includes('nonsense')));
  });

  it('the audit log is read in pages', async () => {
    const whole = await entries(owner, '?limit=100');
    const walked: Entry[] = [];
    let cursor = '';
    do {
      const { json } = await owner.get(owner.in(`/audit?limit=2&cursor=${cursor}`));
      walked.push(...(json.entries as Entry[]));
      cursor = json.has_more === true ? String(json.cursor) : '';
    } while (cursor !== '');
    assert.deepEqual(walked, whole);
    const wrong = await owner.get(owner.in('/audit?cursor=aud_nonsense'));
    assert.equal(field(wrong.json, 'error.param'), 'cursor');
  });

  it('entries about an account are in the audit log of that account, and not in those of its teams', async () => {
    const person = await newMember(service, team, 'member');
    const answer = await person.get('/app/account/audit');
    const own = (answer.json.entries as Entry[]).map(({ action }) => action);
    assert.deepEqual(own, ['member.joined', 'account.signed_in', 'account.made']);
    assert.ok(!(await entries()).some(({ action }) => action.startsWith('account.')));
  });

  it('the account’s audit log hides the name and address of actors other than that account (§12.6/audit-log)', async () => {
    const person = await newMember(service, team, 'member');
    const removed = await owner.delete(owner.in(`/team/members/${person.memberId}`));
    assert.equal(removed.status, 200, removed.text);
    const signedIn = new PageClient(service.baseUrl, await newCookie(service, person.account));
    const seen = (await signedIn.get('/app/account/audit')).json.entries as Entry[];
    const entry = seen.find(({ action }) => action === 'member.removed');
    assert.deepEqual(entry && [entry.actor, entry.ip, entry.request_id], [
      { kind: 'member', id: owner.memberId, name: '' },
      '',
      '',
    ]);
    const own = seen.find(({ action }) => action === 'account.signed_in');
    assert.deepEqual([own?.actor.name, own?.ip], [person.email, '127.0.0.1']);
  });

  it('a refusal is recorded whatever its request’s path contains, even if a form of another origin sent the request (§12.6/audit-log)', async () => {
    assert.equal((await owner.delete(owner.in('/keys/key_%00x'))).status, 404);
    const headers = { 'sec-fetch-site': 'cross-site' };
    assert.equal((await owner.request('POST', owner.in('/team/leave'), { headers })).status, 403);
    assert.equal((await owner.request('POST', '/app/account/sign-out', { headers })).status, 403);
    // The first refusal is of a kind that was recorded before, so its entry is written at the minute's end.
    service.clock.advance(60_000);
    await until('all of them', async () => {
      const noted = (await entries())
        .filter(({ outcome }) => outcome === 'refused')
        .map(({ action, target, error_code }) => `${action} ${target} ${error_code}`);
      const wanted = ['key.revoked key_\ufffdx not_found', 'member.left  forbidden'];
      return wanted.every((line) => noted.includes(line));
    });
    await until('that of the account', async () => {
      const seen = (await owner.get('/app/account/audit')).json.entries as Entry[];
      return seen.some(({ action, outcome }) => action === 'account.signed_out' && outcome === 'refused');
    });
  });

  it('a wrong password leaves an entry in the account’s own log until the throttle refuses attempts (§12.6/audit-log, §12.6/repeated-refusals)', async () => {
    const person = await newPerson(service, { password: 'correct horse battery' });
    const visitor = new Browser(service.baseUrl);
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1)
      statuses.push((await visitor.signIn(person.email, 'a wrong password')).status);
    assert.equal(statuses.at(-1), 429);
    const wrong = statuses.filter((status) => status === 401).length;
    const refused = async () => {
      const seen = (await person.get('/app/account/audit')).json.entries as Entry[];
      return seen.filter(({ outcome }) => outcome === 'refused');
    };
    await until('the first', async () => (await refused()).length === 1);
    service.clock.advance(60_000);
    const noted = await until('the others, in one entry', async () => {
      const found = await refused();
      return found.length > 1 && found;
    });
    assertEach(noted, ({ details }) => details, [
      { method: 'password', repeats: wrong - 1 },
      { method: 'password' },
    ]);
    const { actor, action, error_code, ip } = noted[0] as Entry;
    assert.deepEqual(
      [actor.kind, actor.name, action, error_code, ip],
      ['account', person.email, 'account.signed_in', 'unauthorized', '127.0.0.1'],
    );
  });
});
