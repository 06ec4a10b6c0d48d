import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ids } from '#server/platform/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { invitationMailContent } from '#server/teams/invitations/mail-invitation.ts';

describe('the mail of an invitation', () => {
  const clock = new Clock();
  const ids = new Ids(clock);
  const teamId = ids.next('team');
  const at = new Date('2026-11-21T09:30:00Z');
  const invitation = {
    team_id: teamId,
    id: ids.next('inv'),
    email: 'ada@example.com',
    normalized_email: 'ada@example.com',
    role: 'viewer',
    invited_by: null,
    verifies_email: true,
    created_at: at,
    expires_at: new Date('2026-11-28T09:30:00Z'),
  } as const;
  const team = {
    id: teamId,
    name: 'Example Ltd',
    plan: 'pro',
    monthly_message_limit: 10_000,
    test_of: null,
    created_at: at,
  } as const;
  const url = 'https://texts.example.com/invite/K7jvXwqK3nV2m8sT0dYb4A';

  it('the mail names inviter, team, role and expiry, explains Ownline, and has the link once', () => {
    const inviter = {
      team_id: teamId,
      id: ids.next('usr'),
      account_id: ids.next('acc'),
      role: 'admin',
      created_at: at,
      removed_at: null,
      email: 'bob@example.com',
      name: 'Bob Example',
    } as const;
    assert.deepEqual(invitationMailContent({ invitation, team, inviter, url }), {
      subject: 'Join Example Ltd on Ownline',
      heading: 'Join Example Ltd',
      paragraphs: [
        'Bob Example (bob@example.com) invites you to the team Example Ltd, with the role viewer.',
        'Ownline sends and receives iMessages over the team’s own iPhones: people read and answer them in the browser, and programs do over its API.',
        'The link works once, until November 28, 2026.',
      ],
      action: { label: 'Join Example Ltd', url },
      footnote: 'If you do not know this team, ignore this mail: nothing happens without you.',
    });
  });

  it('the mail names no person if an API key made the invitation', () => {
    const { paragraphs } = invitationMailContent({ invitation, team, inviter: undefined, url });
    assert.equal(paragraphs[0], 'You are invited to the team Example Ltd, with the role viewer.');
  });
});
