import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { storedRowTexts } from '#test/support/database/stored-text.ts';
import { ask, assertRefused, dayMs, invite, listed, type Made, opens } from '#test/support/people/invite.ts';
import { newMember } from '#test/support/people/people.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';

describe('POST /v1/team/members/invite (specification sections 2.4, 3.5 and 4.1)', () => {
  const { service, team } = givenTeamBesideCanary({ APP_URL: 'https://texts.example.com' });

  it('an invite answers a person with 201, an invitation for 7 days and, without SMTP, its link below APP_URL (§4.1/invite)', async () => {
    const before = service.clock.nowMs();
    const ada = await newMember(service, team, 'admin');
    for (const role of ['admin', 'member', 'viewer']) {
      const answer = await ada.post(ada.in('/team/members/invite'), { email: `${role}@example.com`, role });
      assert.equal(answer.status, 201, answer.text);
      const made = answer.json as unknown as Made;
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
      // The token has 256 bits.
      assert.match(made.accept_url, /^https:\/\/texts\.example\.com\/invite\/[\w-]{43}$/);
      assert.ok(await opens(service, made));
    }
  });

  it('the link begins with APP_URL whatever Host and X-Forwarded-Host say', async () => {
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=evil.example',
    };
    const ada = await newMember(service, team, 'admin');
    const body = { email: 'host@example.com', role: 'viewer' };
    const answer = await ada.post(ada.in('/team/members/invite'), body, headers);
    assert.match(String(answer.json.accept_url), /^https:\/\/texts\.example\.com\/invite\//);
  });

  it('the database has the hash of an invitation’s token, not the token', async () => {
    const { accept_url } = await invite(service, team, 'hash@example.com');
    const token = accept_url.split('/').at(-1) ?? '';
    for (const table of ['invitations', 'audit_log'] as const) {
      const rows = await storedRowTexts(service, table);
      assert.ok(rows.length > 0 && rows.every((row) => !row.includes(token)), table);
    }
  });

  it('an invite accepts addresses as people type them, and compares them without regard to case (§4.1/invite)', async () => {
    for (const [written, email] of [
      [' blanks@example.com ', 'blanks@example.com'],
      ['Mixed.Case+tag@Example.COM', 'Mixed.Case+tag@Example.COM'],
      ['jürgen@exämple.example', 'jürgen@exämple.example'],
      ['root@localhost', 'root@localhost'],
    ] as const) {
      assert.equal((await invite(service, team, written)).email, email);
      assertRefused(await ask(team.api, email.toUpperCase()), 409, 'conflict', 'email');
    }
  });

  it('an invite refuses invalid addresses with param email, invalid roles with param role, and unknown fields', async () => {
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
      // In lower case each of these letters has two code points, so the address is too long.
      `${'İ'.repeat(60)}@${'b'.repeat(180)}.com`,
      'a\u0000@example.com',
      null,
      5,
      ['a@example.com'],
    ]) {
      assertRefused(await ask(team.api, email), 400, 'invalid_request', 'email');
    }
    for (const role of ['owner', 'Admin', '', null, 5]) {
      assertRefused(await ask(team.api, 'role@example.com', role), 400, 'invalid_request', 'role');
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

  it('inviting a member or an invited person again is 409 with param email (§4.1/invite)', async () => {
    const here = await service.newTeam();
    const ada = await newMember(service, here, 'member', { email: 'Ada.Twice@example.com' });
    assertRefused(await ask(here.api, 'ada.twice@EXAMPLE.com'), 409, 'conflict', 'email');
    await invite(service, here, 'new.twice@example.com');
    assertRefused(await ask(here.api, 'NEW.twice@example.com'), 409, 'conflict', 'email');
    const elsewhere = await service.newTeam();
    assert.ok(await opens(service, await invite(service, elsewhere, ada.email)));
    assert.ok(await opens(service, await invite(service, elsewhere, 'new.twice@example.com')));
  });

  it('a revoked or expired invitation leaves its address free for another invitation', async () => {
    const first = await invite(service, team, 'again@example.com');
    await team.api.delete(`/v1/team/invitations/${first.invitation_id}`);
    const second = await invite(service, team, 'again@example.com');
    assert.deepEqual([await opens(service, first), await opens(service, second)], [false, true]);
    service.clock.advance(7 * dayMs);
    assert.equal(await opens(service, second), false);
    assert.ok(await opens(service, await invite(service, team, 'again@example.com')));
  });

  it('an invite beyond the plan’s seats, open invitations included, is 402 with limit, current and upgrade_url (§4.1/invite)', async () => {
    for (const [plan, limit] of [
      ['free', 1],
      ['starter', 3],
    ] as const) {
      const small = await service.newTeam({ plan });
      if (limit > 1) await newMember(service, small, 'owner');
      const made: Made[] = [];
      for (let n = limit > 1 ? 1 : 0; n < limit; n += 1)
        made.push(await invite(service, small, `${n}@example.com`));
      const answer = await ask(small.api, 'more@example.com');
      assertRefused(answer, 402, 'plan_limit_exceeded');
      const { message: _, code: _code, ...details } = field(answer.json, 'error') as Record<string, unknown>;
      assert.deepEqual(details, {
        limit,
        current: limit,
        upgrade_url: 'https://texts.example.com/billing',
      });
      await small.api.delete(`/v1/team/invitations/${made[0]?.invitation_id}`);
      await invite(service, small, 'more@example.com');
      assertRefused(await ask(small.api, 'most@example.com'), 402, 'plan_limit_exceeded');
      service.clock.advance(7 * dayMs);
      await invite(service, small, 'most@example.com');
    }
  });

  it('20 simultaneous invites for the last seat make one invitation (§8/plan-members, §12.4/seats)', async () => {
    const small = await service.newTeam({ plan: 'starter' });
    await newMember(service, small, 'owner');
    await newMember(service, small, 'admin');
    const all = Array.from({ length: 20 }, (_, n) => ask(small.api, `guest${n}@example.com`));
    const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array.from({ length: 19 }, () => 402)]);
    assert.equal((await listed(small.api)).length, 1);
  });

  it('20 simultaneous invites of one address make one invitation, and the others get 409', async () => {
    const all = Array.from({ length: 20 }, (_, n) =>
      ask(team.api, n % 2 ? 'Same@example.com' : 'same@EXAMPLE.com'),
    );
    const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, ...Array.from({ length: 19 }, () => 409)]);
  });

  it('an invite is in the audit log with its actor, a key or a member', async () => {
    const here = await service.newTeam();
    const ada = await newMember(service, here, 'admin');
    const byKey = (await ask(here.api, 'key@example.com', 'viewer')).json;
    const answer = await ada.post(ada.in('/team/members/invite'), {
      email: 'member@example.com',
      role: 'admin',
    });
    assert.equal(answer.status, 201, answer.text);
    const made = (await storedAuditEntries(service, { teamId: here.id })).filter(
      ({ action }) => action === 'invitation.made',
    );
    assert.deepEqual(
      made.map(({ actorKind, target, details }) => ({ actorKind, target, details })),
      [
        {
          actorKind: 'key',
          target: byKey.invitation_id,
          details: { email: 'key@example.com', role: 'viewer' },
        },
        {
          actorKind: 'member',
          target: answer.json.invitation_id,
          details: { email: 'member@example.com', role: 'admin' },
        },
      ],
    );
  });
});
