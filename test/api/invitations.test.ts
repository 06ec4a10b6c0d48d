import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { operator } from '#server/platform/actor.ts';
import { forgetInvitations } from '#server/teams/forget-invitations.ts';
import { makeOwnerLink } from '#server/teams/make-owner-link.ts';
import { lockTeam } from '#server/teams/team-store.ts';
import { type ApiAnswer, type ApiClient, field } from '#test/support/api-client.ts';
import { Browser } from '#test/support/browser-client.ts';
import { plantCanary } from '#test/support/canary.ts';
import { newMember } from '#test/support/people.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/test-service.ts';

const dayMs = 24 * 3_600_000;

interface Made {
  readonly invitation_id: string;
  readonly email: string;
  readonly role: string;
  readonly expires_at: string;
  readonly accept_url: string;
}

function assertRefused(answer: ApiAnswer, status: number, code: string, param?: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual([field(answer.json, 'error.code'), field(answer.json, 'error.param')], [code, param]);
}

describe('invitations (specification sections 2.4, 3.5 and 4.1)', () => {
  let service: TestService;
  let team: TestTeam;

  before(async () => {
    service = await startTestService({ APP_URL: 'https://texts.example.com' });
    await plantCanary(service);
    team = await service.newTeam();
  });
  after(() => service.close());

  const ask = (email: unknown, api: ApiClient = team.api, role: unknown = 'member') =>
    api.post('/v1/team/members/invite', { email, role });

  async function invite(email: string, api: ApiClient = team.api, role = 'member'): Promise<Made> {
    const answer = await ask(email, api, role);
    assert.equal(answer.status, 201, answer.text);
    return answer.json as unknown as Made;
  }

  const listed = async (api: ApiClient = team.api) =>
    ((await api.get('/v1/team/invitations')).json.invitations as Made[]).map(({ email }) => email);

  /** Whether the link opens a page that can be accepted. */
  const opens = async ({ accept_url }: Made) =>
    (await new Browser(service.baseUrl).open(new URL(accept_url).pathname)).status === 200;

  const audited = (of: TestTeam) =>
    service.query<{ actor_kind: string; action: string; target: string; details: unknown }>(
      'SELECT actor_kind, action, target, details FROM audit_log WHERE team_id = $1 ORDER BY id',
      [of.id],
    );

  describe('POST /v1/team/members/invite', () => {
    it('answers 201 with the Invitation, good for 7 days, and without SMTP the link, which begins with APP_URL', async () => {
      const before = service.clock.nowMs();
      for (const role of ['admin', 'member', 'viewer']) {
        const made = await invite(`${role}@example.com`, team.api, role);
        assert.deepEqual(Object.keys(made).sort(), [
          'accept_url',
          'email',
          'expires_at',
          'invitation_id',
          'role',
        ]);
        assert.match(made.invitation_id, /^inv_[0-9a-hjkmnp-tv-z]{26}$/);
        assert.deepEqual([made.email, made.role], [`${role}@example.com`, role]);
        const days = (Date.parse(made.expires_at) - before) / dayMs;
        assert.ok(days >= 7 && days < 7.01, made.expires_at);
        // 256 bits.
        assert.match(made.accept_url, /^https:\/\/texts\.example\.com\/invite\/[\w-]{43}$/);
        assert.ok(await opens(made));
      }
    });

    it('the link begins with APP_URL whatever Host and X-Forwarded-Host say', async () => {
      const headers = {
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
        forwarded: 'host=evil.example',
      };
      const answer = await team.api.post(
        '/v1/team/members/invite',
        { email: 'host@example.com', role: 'viewer' },
        headers,
      );
      assert.match(String(answer.json.accept_url), /^https:\/\/texts\.example\.com\/invite\//);
    });

    it('stores the hash of the token and no token', async () => {
      const { accept_url } = await invite('hash@example.com');
      const token = accept_url.split('/').at(-1) ?? '';
      const rows = await service.query<{ row: string }>('SELECT i::text AS row FROM invitations i');
      assert.ok(rows.length > 0 && rows.every(({ row }) => !row.includes(token)));
      const noted = await service.query<{ row: string }>('SELECT a::text AS row FROM audit_log a');
      assert.ok(noted.every(({ row }) => !row.includes(token)));
    });

    it('takes addresses as people type them, and compares them folded', async () => {
      for (const [written, email] of [
        [' blanks@example.com ', 'blanks@example.com'],
        ['Mixed.Case+tag@Example.COM', 'Mixed.Case+tag@Example.COM'],
        ['jürgen@exämple.example', 'jürgen@exämple.example'],
        ['root@localhost', 'root@localhost'],
      ] as const) {
        assert.equal((await invite(written)).email, email);
        assertRefused(await ask(email.toUpperCase()), 409, 'conflict', 'email');
      }
    });

    it('refuses other addresses with param email, other roles with param role, and unknown fields', async () => {
      const emails = [
        '',
        'a',
        'a@',
        '@b',
        'a b@example.com',
        'a@b@c',
        '<a@example.com>',
        'a@example.com, b@example.com',
      ];
      for (const email of [
        ...emails,
        `${'a'.repeat(250)}@example.com`,
        // In lower case it is longer: two characters for each of these.
        `${'İ'.repeat(60)}@${'b'.repeat(180)}.com`,
        'a\u0000@example.com',
        null,
        5,
        ['a@example.com'],
      ]) {
        assertRefused(await ask(email), 400, 'invalid_request', 'email');
      }
      for (const role of ['owner', 'Admin', '', null, 5]) {
        assertRefused(await ask('role@example.com', team.api, role), 400, 'invalid_request', 'role');
      }
      assertRefused(
        await team.api.post('/v1/team/members/invite', { email: 'a@example.com' }),
        400,
        'invalid_request',
        'role',
      );
      const more = { email: 'a@example.com', role: 'member', name: 'Ada' };
      assertRefused(await team.api.post('/v1/team/members/invite', more), 400, 'invalid_request', 'name');
    });

    it('a member’s address and that of somebody who is invited are 409, param email; other teams don’t matter', async () => {
      const here = await service.newTeam();
      const ada = await newMember(service, here, 'member', { email: 'Ada.Twice@example.com' });
      assertRefused(await ask('ada.twice@EXAMPLE.com', here.api), 409, 'conflict', 'email');
      await invite('new.twice@example.com', here.api);
      assertRefused(await ask('NEW.twice@example.com', here.api), 409, 'conflict', 'email');
      const elsewhere = await service.newTeam();
      assert.ok(await opens(await invite(ada.email, elsewhere.api)));
      assert.ok(await opens(await invite('new.twice@example.com', elsewhere.api)));
    });

    it('one that was revoked or has expired leaves its address free', async () => {
      const first = await invite('again@example.com');
      await team.api.delete(`/v1/team/invitations/${first.invitation_id}`);
      const second = await invite('again@example.com');
      assert.deepEqual([await opens(first), await opens(second)], [false, true]);
      service.clock.advance(7 * dayMs);
      assert.equal(await opens(second), false);
      assert.ok(await opens(await invite('again@example.com')));
    });

    it('counts members and open invitations against the plan: 402 with limit, current and upgrade_url', async () => {
      for (const [plan, limit] of [
        ['free', 1],
        ['starter', 3],
      ] as const) {
        const small = await service.newTeam({ plan });
        if (limit > 1) await newMember(service, small, 'owner');
        const made: Made[] = [];
        for (let n = limit > 1 ? 1 : 0; n < limit; n += 1)
          made.push(await invite(`${n}@example.com`, small.api));
        const answer = await ask('more@example.com', small.api);
        assertRefused(answer, 402, 'plan_limit_exceeded');
        const {
          message: _,
          code: _code,
          ...details
        } = field(answer.json, 'error') as Record<string, unknown>;
        assert.deepEqual(details, {
          limit,
          current: limit,
          upgrade_url: 'https://texts.example.com/billing',
        });
        await small.api.delete(`/v1/team/invitations/${made[0]?.invitation_id}`);
        await invite('more@example.com', small.api);
        assertRefused(await ask('most@example.com', small.api), 402, 'plan_limit_exceeded');
        service.clock.advance(7 * dayMs);
        await invite('most@example.com', small.api);
      }
    });

    it('of 20 at once against the last place one is made', async () => {
      const small = await service.newTeam({ plan: 'starter' });
      await newMember(service, small, 'owner');
      await newMember(service, small, 'admin');
      const all = Array.from({ length: 20 }, (_, n) => ask(`guest${n}@example.com`, small.api));
      const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
      assert.deepEqual(statuses, [201, ...Array.from({ length: 19 }, () => 402)]);
      assert.equal((await listed(small.api)).length, 1);
    });

    it('of 20 at once for one address one is made, and 409 is what the others hear', async () => {
      const all = Array.from({ length: 20 }, (_, n) => ask(n % 2 ? 'Same@example.com' : 'same@EXAMPLE.com'));
      const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
      assert.deepEqual(statuses, [201, ...Array.from({ length: 19 }, () => 409)]);
    });

    it('is noted with who made it, by key and by member', async () => {
      const here = await service.newTeam();
      const ada = await newMember(service, here, 'admin');
      const byKey = await invite('key@example.com', here.api, 'viewer');
      const answer = await ada.post(ada.in('/team/members/invite'), {
        email: 'member@example.com',
        role: 'admin',
      });
      assert.equal(answer.status, 201, answer.text);
      const made = (await audited(here)).filter(({ action }) => action === 'invitation.made');
      assert.deepEqual(made, [
        {
          actor_kind: 'key',
          action: 'invitation.made',
          target: byKey.invitation_id,
          details: { email: 'key@example.com', role: 'viewer' },
        },
        {
          actor_kind: 'member',
          action: 'invitation.made',
          target: answer.json.invitation_id,
          details: { email: 'member@example.com', role: 'admin' },
        },
      ]);
    });
  });

  describe('GET /v1/team/invitations', () => {
    let here: TestTeam;

    before(async () => {
      here = await service.newTeam();
    });

    it('shows live ones, newest first, with the four fields and no link', async () => {
      assert.deepEqual((await here.api.get('/v1/team/invitations')).json, {
        invitations: [],
        cursor: '',
        has_more: false,
      });
      const expired = await invite('expired@example.com', here.api);
      service.clock.advance(7 * dayMs);
      const revoked = await invite('revoked@example.com', here.api);
      const one = await invite('one@example.com', here.api);
      const two = await invite('two@example.com', here.api, 'admin');
      await here.api.delete(`/v1/team/invitations/${revoked.invitation_id}`);
      const { accept_url: _one, ...first } = one;
      const { accept_url: _two, ...second } = two;
      assert.deepEqual((await here.api.get('/v1/team/invitations')).json, {
        invitations: [second, first],
        cursor: first.invitation_id,
        has_more: false,
      });
      assert.equal(await opens(expired), false);
    });

    it('walks in pages of limit, 50 by default, and shows each once', async () => {
      const many = await service.newTeam();
      const emails = Array.from({ length: 53 }, (_, n) => `page${n}@example.com`);
      for (const email of emails) await invite(email, many.api);
      const first = await many.api.get('/v1/team/invitations');
      const page = (answer: ApiAnswer) => (answer.json.invitations as Made[]).map(({ email }) => email);
      assert.deepEqual(page(first), emails.toReversed().slice(0, 50));
      assert.equal(first.json.has_more, true);
      const rest = await many.api.get(`/v1/team/invitations?cursor=${first.json.cursor}&limit=100`);
      assert.deepEqual([page(rest), rest.json.has_more], [emails.toReversed().slice(50), false]);
      const exact = await many.api.get(`/v1/team/invitations?cursor=${first.json.cursor}&limit=3`);
      assert.equal(exact.json.has_more, false);
      const beyond = await many.api.get(`/v1/team/invitations?cursor=${exact.json.cursor}&limit=1`);
      assert.deepEqual(beyond.json, { invitations: [], cursor: '', has_more: false });
      assert.equal((await many.api.get('/v1/team/invitations?cursor=')).text, first.text);
    });

    it('refuses a limit outside 1 to 100 and a cursor that is none', async () => {
      for (const limit of ['0', '101', '-1', 'x', '']) {
        assertRefused(
          await here.api.get(`/v1/team/invitations?limit=${limit}`),
          400,
          'invalid_request',
          'limit',
        );
      }
      for (const cursor of ['x', 'inv_x', here.publicId]) {
        assertRefused(
          await here.api.get(`/v1/team/invitations?cursor=${cursor}`),
          400,
          'invalid_request',
          'cursor',
        );
      }
    });

    it('links of owners, which the operator makes, are neither shown nor revoked nor sent again, but hold a place', async () => {
      const small = await service.newTeam({ plan: 'free' });
      const { database } = service.runtime;
      await database.transaction(async (trx) => {
        const row = await lockTeam(trx, small.id);
        if (row) await makeOwnerLink(trx, service.runtime, row, 'first@example.com', operator);
      });
      const noted = await audited(small);
      const id = String(noted.find(({ action }) => action === 'invitation.made')?.target);
      assert.deepEqual(await listed(small.api), []);
      assertRefused(await small.api.delete(`/v1/team/invitations/${id}`), 404, 'not_found');
      assertRefused(await ask('second@example.com', small.api), 402, 'plan_limit_exceeded');
      assertRefused(await ask('first@example.com', small.api), 409, 'conflict', 'email');
    });
  });

  describe('DELETE /v1/team/invitations/:id, and sending one again', () => {
    it('a revoked one opens nothing, and is gone', async () => {
      const made = await invite('gone@example.com');
      const answer = await team.api.delete(`/v1/team/invitations/${made.invitation_id}`);
      assert.deepEqual([answer.status, answer.json], [200, { deleted: true }]);
      assert.equal(await opens(made), false);
      assert.ok(!(await listed()).includes('gone@example.com'));
      assertRefused(await team.api.delete(`/v1/team/invitations/${made.invitation_id}`), 404, 'not_found');
      const last = (await audited(team)).at(-1);
      assert.deepEqual([last?.action, last?.target], ['invitation.revoked', made.invitation_id]);
    });

    it('sent again it keeps its id and gets a new link for 7 more days; the old link ends', async () => {
      const ada = await newMember(service, team, 'admin');
      const made = await invite('resend@example.com', team.api, 'viewer');
      service.clock.advance(5 * dayMs);
      const answer = await ada.post(ada.in(`/team/invitations/${made.invitation_id}/resend`));
      assert.equal(answer.status, 200, answer.text);
      const again = answer.json as unknown as Made;
      assert.deepEqual(
        [again.invitation_id, again.email, again.role],
        [made.invitation_id, 'resend@example.com', 'viewer'],
      );
      assert.ok(Date.parse(again.expires_at) >= Date.parse(made.expires_at) + 5 * dayMs);
      assert.deepEqual([await opens(made), await opens(again)], [false, true]);
      service.clock.advance(5 * dayMs);
      assert.equal(await opens(again), true);
      const last = (await audited(team)).at(-1);
      assert.deepEqual([last?.action, last?.actor_kind], ['invitation.sent_again', 'member']);
    });

    it('what has expired can’t be sent again, and neither can another team’s', async () => {
      const ada = await newMember(service, team, 'owner');
      const foreign = await invite('resend@example.com', (await service.newTeam()).api);
      const made = await invite('late@example.com');
      const resend = (id: string) => ada.post(ada.in(`/team/invitations/${id}/resend`));
      const wanted = await resend('inv_01h2xcejqtf2nbrexx3vqjhp41');
      assertRefused(wanted, 404, 'not_found');
      assert.equal((await resend(foreign.invitation_id)).text, wanted.text);
      service.clock.advance(7 * dayMs);
      assert.equal((await resend(made.invitation_id)).text, wanted.text);
    });

    it('answers for foreign and unknown ids, and for what is no id, in the same words', async () => {
      const foreign = await invite('foreign@example.com', (await service.newTeam()).api);
      const revoke = (id: string) => team.api.delete(`/v1/team/invitations/${id}`);
      const wanted = await revoke('inv_01h2xcejqtf2nbrexx3vqjhp41');
      assertRefused(wanted, 404, 'not_found');
      for (const id of [foreign.invitation_id, 'inv_x', team.publicId]) {
        assert.equal((await revoke(id)).text, wanted.text);
      }
      assert.ok(await opens(foreign));
    });
  });

  it('30 days after one was accepted, revoked or over it is forgotten; live ones stay, however often sent again (section 3.5)', async () => {
    const of = await service.newTeam();
    const ada = await newMember(service, of, 'owner');
    const [used, revoked, , kept] = [
      await invite('used@example.com', of.api),
      await invite('revoked@example.com', of.api),
      await invite('over@example.com', of.api),
      await invite('kept@example.com', of.api),
    ];
    const joining = new Browser(service.baseUrl);
    const joined = await joining.submit(
      new URL(used.accept_url).pathname,
      { name: 'Uma Example' },
      {
        'sec-fetch-site': 'same-origin',
      },
    );
    assert.equal(joined.status, 303, joined.text);
    assert.equal((await of.api.delete(`/v1/team/invitations/${revoked.invitation_id}`)).status, 200);
    const left = async () => {
      await forgetInvitations(service.runtime);
      const rows = await service.query<{ email: string }>(
        'SELECT email FROM invitations WHERE team_id = $1 ORDER BY id',
        [of.id],
      );
      return rows.map(({ email }) => email.split('@')[0]);
    };
    const later = async (days: number) => {
      for (let passed = 0; passed < days; passed += 6) {
        const again = await ada.post(ada.in(`/team/invitations/${kept.invitation_id}/resend`));
        assert.equal(again.status, 200, again.text);
        service.clock.advance(Math.min(6, days - passed) * dayMs);
      }
    };
    await later(29);
    assert.deepEqual(await left(), ['used', 'revoked', 'over', 'kept']);
    await later(2);
    assert.deepEqual(await left(), ['over', 'kept']);
    await later(5);
    assert.deepEqual(await left(), ['over', 'kept'], 'it was open for 7 days');
    await later(2);
    assert.deepEqual(await left(), ['kept']);
    assert.deepEqual(await listed(of.api), ['kept@example.com']);
    assert.ok(
      (await audited(of)).some(({ target }) => target === revoked.invitation_id),
      'noted all the same',
    );
  });
});
