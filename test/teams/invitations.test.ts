import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { purgeInvitations } from '#server/teams/invitations/invitations.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { storedRowTexts } from '#test/support/database/stored-text.ts';
import { newOwnerLink } from '#test/support/people/given-links.ts';
import { ask, assertRefused, dayMs, invite, listed, type Made, opens } from '#test/support/people/invite.ts';
import { newMember } from '#test/support/people/people.ts';
import { storedInvitations } from '#test/support/people/stored-invitations.ts';
import { type ApiAnswer, field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';

describe('invitations (specification sections 3.5 and 4.1)', () => {
  const { service, team } = givenTeamBesideCanary({ APP_URL: 'https://texts.example.com' });

  describe('POST /v1/team/members/invite', () => {
    it('an invite is answered 201 with an invitation for 7 days and, without SMTP, its link below APP_URL', async () => {
      const before = service.clock.nowMs();
      const ada = await newMember(service, team, 'admin');
      for (const role of ['admin', 'member', 'viewer']) {
        const answer = await ada.post(ada.in('/team/members/invite'), { email: `${role}@example.com`, role });
        assert.equal(answer.status, 201, answer.text);
        const made = answer.json as unknown as Made;
        assert.equal(Object.keys(made).sort().join(), 'accept_url,email,expires_at,invitation_id,role');
        assert.match(made.invitation_id, /^inv_[0-9a-hjkmnp-tv-z]{26}$/);
        assert.deepEqual([made.email, made.role], [`${role}@example.com`, role]);
        const days = (Date.parse(made.expires_at) - before) / dayMs;
        assert.ok(days >= 7 && days < 7.01, made.expires_at);
        // The token has 256 bits.
        assert.match(made.accept_url, /^https:\/\/texts\.example\.com\/invite\/[\w-]{43}$/);
        assert.ok(await opens(service, made));
      }
    });

    it('the database has the hash of an invitation’s token, not the token', async () => {
      const { accept_url } = await invite(service, team, 'hash@example.com');
      const token = accept_url.split('/').at(-1) ?? '';
      for (const table of ['invitations', 'audit_log'] as const) {
        const rows = await storedRowTexts(service, table);
        assert.ok(rows.length > 0 && rows.every((row) => !row.includes(token)), table);
      }
    });

    it('an invite accepts addresses as people type them, and compares them without regard to case', async () => {
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

    it('an invite refuses invalid addresses with param email, and invalid roles with param role', async () => {
      // In lower case each letter of the last one has two code points, so the address is too long.
      const long = [`${'a'.repeat(250)}@example.com`, `${'İ'.repeat(60)}@${'b'.repeat(180)}.com`];
      const wrong = ['', 'a', 'a@', '@b', 'a b@example.com', 'a@b@c', '<a@example.com>', 'a@b.com, c@d.com'];
      for (const email of [...wrong, ...long]) {
        assertRefused(await ask(team.api, email), 400, 'invalid_request', 'email');
      }
      for (const role of ['owner', 'Admin', '']) {
        assertRefused(await ask(team.api, 'role@example.com', role), 400, 'invalid_request', 'role');
      }
    });

    it('inviting a member or an invited person again is 409 with param email', async () => {
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

    it('an invite beyond the plan’s seats, which open invitations use too, is 402 with limit, current and upgrade_url', async () => {
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
        await invite(service, small, 'more@example.com');
        assertRefused(await ask(small.api, 'most@example.com'), 402, 'plan_limit_exceeded');
        service.clock.advance(7 * dayMs);
        await invite(service, small, 'most@example.com');
      }
    });

    it('20 simultaneous invites for the last seat make one invitation (§8/plan-members)', async () => {
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
  });

  describe('GET /v1/team/invitations', () => {
    const here = given(() => service.newTeam());

    it('the list shows open invitations, newest first, with four fields and no link', async () => {
      assert.deepEqual((await here.api.get('/v1/team/invitations')).json, {
        invitations: [],
        cursor: '',
        has_more: false,
      });
      const expired = await invite(service, here, 'expired@example.com');
      service.clock.advance(7 * dayMs);
      const revoked = await invite(service, here, 'revoked@example.com');
      const one = await invite(service, here, 'one@example.com');
      const two = await invite(service, here, 'two@example.com', 'admin');
      await here.api.delete(`/v1/team/invitations/${revoked.invitation_id}`);
      const { accept_url: _one, ...first } = one;
      const { accept_url: _two, ...second } = two;
      assert.deepEqual((await here.api.get('/v1/team/invitations')).json, {
        invitations: [second, first],
        cursor: first.invitation_id,
        has_more: false,
      });
      assert.equal(await opens(service, expired), false);
    });

    it('the list comes in pages of 50 by default, or of limit, and shows each invitation once', async () => {
      const many = await service.newTeam();
      const emails = Array.from({ length: 53 }, (_, n) => `page${n}@example.com`);
      for (const email of emails) await invite(service, many, email);
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

    it('an owner link can’t be listed, revoked or sent again, but uses a seat', async () => {
      const small = await service.newTeam({ plan: 'free' });
      await newOwnerLink(service, small, 'first@example.com');
      const noted = await storedAuditEntries(service, { teamId: small.id });
      const id = String(noted.find(({ action }) => action === 'invitation.made')?.target);
      assert.deepEqual(await listed(small.api), []);
      assertRefused(await small.api.delete(`/v1/team/invitations/${id}`), 404, 'not_found');
      assertRefused(await ask(small.api, 'second@example.com'), 402, 'plan_limit_exceeded');
      assertRefused(await ask(small.api, 'first@example.com'), 409, 'conflict', 'email');
    });
  });

  describe('invitations that are revoked, sent again or deleted', () => {
    it('the link of a revoked invitation opens nothing, and the invitation is no longer listed', async () => {
      const made = await invite(service, team, 'gone@example.com');
      const answer = await team.api.delete(`/v1/team/invitations/${made.invitation_id}`);
      assert.deepEqual([answer.status, answer.json], [200, { deleted: true }]);
      assert.equal(await opens(service, made), false);
      assert.ok(!(await listed(team.api)).includes('gone@example.com'));
      assertRefused(await team.api.delete(`/v1/team/invitations/${made.invitation_id}`), 404, 'not_found');
      const last = (await storedAuditEntries(service, { teamId: team.id })).at(-1);
      assert.deepEqual([last?.action, last?.target], ['invitation.revoked', made.invitation_id]);
    });

    it('sending an invitation again makes a new one for 7 days, and ends the old one and its link (§3.5/lifetime)', async () => {
      const of = await service.newTeam({ plan: 'starter' });
      const ada = await newMember(service, of, 'admin');
      await newMember(service, of, 'member');
      const made = await invite(service, of, 'resend@example.com', 'viewer');
      service.clock.advance(5 * dayMs);
      const answer = await ada.post(ada.in(`/team/invitations/${made.invitation_id}/resend`));
      assert.equal(answer.status, 201, answer.text);
      const again = answer.json as unknown as Made;
      assert.notEqual(again.invitation_id, made.invitation_id);
      assert.deepEqual([again.email, again.role], ['resend@example.com', 'viewer']);
      assert.ok(Date.parse(again.expires_at) >= Date.parse(made.expires_at) + 5 * dayMs);
      const list = (await of.api.get('/v1/team/invitations')).json.invitations as Made[];
      assertEach(list, ({ invitation_id }) => invitation_id, [again.invitation_id]);
      assert.deepEqual([await opens(service, made), await opens(service, again)], [false, true]);
      const old = await new Browser(service.baseUrl).open(new URL(made.accept_url).pathname);
      assert.match(old.text, /A newer invitation has replaced this one/);
      assertRefused(await of.api.delete(`/v1/team/invitations/${made.invitation_id}`), 404, 'not_found');
      const last = (await storedAuditEntries(service, { teamId: of.id })).find(
        ({ action }) => action === 'invitation.sent_again',
      );
      assert.deepEqual(
        [last?.actorKind, last?.target, last?.details],
        [
          'member',
          again.invitation_id,
          { email: 'resend@example.com', role: 'viewer', replaces: made.invitation_id },
        ],
      );
      service.clock.advance(5 * dayMs);
      assert.equal(await opens(service, again), true);
    });

    it('the page of a replaced invitation mentions the newer one only while its link works, or after it was accepted', async () => {
      const of = await service.newTeam({ plan: 'starter' });
      const made = await invite(service, of, 'both-ended@example.com');
      service.clock.advance(dayMs);
      const ada = await newMember(service, of, 'admin');
      const answer = await ada.post(ada.in(`/team/invitations/${made.invitation_id}/resend`));
      assert.equal(answer.status, 201, answer.text);
      const shown = async () =>
        (await new Browser(service.baseUrl).open(new URL(made.accept_url).pathname)).text;
      assert.match(await shown(), /A newer invitation has replaced this one/);
      service.clock.advance(7 * dayMs);
      assert.match(await shown(), /This invitation was revoked/);
      assert.doesNotMatch(await shown(), /Open the newest link/);
    });

    it('20 simultaneous resends of one invitation replace it once', async () => {
      const made = await invite(service, team, 'at-once@example.com');
      const path = `/v1/team/invitations/${made.invitation_id}/resend`;
      const answers = await Promise.all(Array.from({ length: 20 }, () => team.api.post(path)));
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [201, ...Array.from({ length: 19 }, () => 404)]);
      assert.equal((await listed(team.api)).filter((email) => email === made.email).length, 1);
    });

    it('an expired invitation and an invitation of another team can’t be sent again', async () => {
      const ada = await newMember(service, team, 'owner');
      const foreign = await invite(service, await service.newTeam(), 'resend@example.com');
      const made = await invite(service, team, 'late@example.com');
      const resend = (id: string) => ada.post(ada.in(`/team/invitations/${id}/resend`));
      const wanted = await resend('inv_01h2xcejqtf2nbrexx3vqjhp41');
      assertRefused(wanted, 404, 'not_found');
      assert.equal((await resend(foreign.invitation_id)).text, wanted.text);
      service.clock.advance(7 * dayMs);
      assert.equal((await resend(made.invitation_id)).text, wanted.text);
    });

    it('an invitation is deleted 30 days after it was accepted, revoked or expired (§3.5/lifetime)', async () => {
      const of = await service.newTeam();
      const ada = await newMember(service, of, 'owner');
      const [used, revoked, , kept] = [
        await invite(service, of, 'used@example.com'),
        await invite(service, of, 'revoked@example.com'),
        await invite(service, of, 'over@example.com'),
        await invite(service, of, 'kept@example.com'),
      ];
      let keptId = kept.invitation_id;
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
        await purgeInvitations(service.runtime);
        const names = (await storedInvitations(service, of.id)).map(({ email }) => email?.split('@')[0]);
        // Each time an invitation is sent again, a new one replaces it.
        return names.filter((name, index) => name !== 'kept' || index === names.lastIndexOf('kept'));
      };
      const later = async (days: number) => {
        for (let passed = 0; passed < days; passed += 6) {
          const again = await ada.post(ada.in(`/team/invitations/${keptId}/resend`));
          assert.equal(again.status, 201, again.text);
          keptId = String(again.json.invitation_id);
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
        (await storedAuditEntries(service, { teamId: of.id })).some(
          ({ target }) => target === revoked.invitation_id,
        ),
        'noted all the same',
      );
    });
  });
});
