import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { newOwnerLink } from '#test/support/people/given-links.ts';
import { ask, assertRefused, dayMs, invite, listed, type Made, opens } from '#test/support/people/invite.ts';
import type { ApiAnswer } from '#test/support/service/api-client.ts';
import { givenTeamBesideCanary } from '#test/support/service/given-team.ts';

describe('GET /v1/team/invitations (specification sections 2.4 and 4.1)', () => {
  const { service, team: here } = givenTeamBesideCanary({ APP_URL: 'https://texts.example.com' });

  it('the list shows open invitations, newest first, with four fields and no link (§2.4/fields)', async () => {
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

  it('the list comes in pages of 50 by default, or of limit, and shows each invitation once (§4.1/list-invitations)', async () => {
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

  it('the list refuses a limit outside 1 to 100 and an invalid cursor', async () => {
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

  it('an owner link can’t be listed, revoked or sent again, but takes a seat', async () => {
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
