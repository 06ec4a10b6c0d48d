import { type Grant, type Role, roleGrants } from '#contract/permissions.ts';
import { type AccountRow, findAccountByEmail } from '#server/accounts/account/account-store.ts';
import { createAccount } from '#server/accounts/account/create-account.ts';
import { createKey } from '#server/api-keys/create-key.ts';
import { LastUsedTimes } from '#server/api-keys/last-used-times.ts';
import { revokeKey } from '#server/api-keys/revoke-key.ts';
import { MailHealth } from '#server/mail/mail-health.ts';
import { type AuditActor, operator } from '#server/platform/actor.ts';
import { demoDomain } from '#server/platform/demo-domain.ts';
import { type KeyId, type MemberId, publicId } from '#server/platform/ids/ids.ts';
import { inviteMember } from '#server/teams/invitations/invite-member.ts';
import { joinTeam } from '#server/teams/invitations/join-team.ts';
import type { TeamRow } from '#server/teams/team/team-store.ts';
import { actorOf, type DemoRuntime } from './demo-runtime.ts';

const people = [
  ['maya', 'Maya Chen', 'owner'],
  ['daniel', 'Daniel Reyes', 'admin'],
  ['priya', 'Priya Shah', 'member'],
  ['tom', 'Tom Baker', 'viewer'],
] as const satisfies readonly (readonly [string, string, Role])[];

type PersonName = (typeof people)[number][0];

export interface DemoMember {
  readonly id: MemberId;
  readonly account: AccountRow;
  /** Returns the actor of a request that the member makes now. */
  readonly act: () => AuditActor;
}

export type DemoPeople = Readonly<Record<PersonName, DemoMember>>;

/** Makes a member of each role. */
export async function createDemoPeople(demo: DemoRuntime, team: TeamRow): Promise<DemoPeople> {
  const made: Partial<Record<PersonName, DemoMember>> = {};
  for (const [first, name, role] of people)
    made[first] = await createMember(demo, team, `${first}@${demoDomain}`, name, role);
  return made as DemoPeople;
}

async function createMember(
  demo: DemoRuntime,
  team: TeamRow,
  email: string,
  name: string,
  role: Role,
): Promise<DemoMember> {
  const { trx } = demo;
  const person = { email, name, passwordHash: undefined, isEmailVerified: true };
  const account =
    (await findAccountByEmail(trx, email)) ??
    (await createAccount(trx, demo, { ...person, ip: '203.0.113.7', requestId: demo.ids.nextPublic('req') }));
  const id = await joinTeam(trx, demo, team, { account, role, by: operator });
  return { id, account, act: () => actorOf(demo, 'member', { id: publicId('usr', id), name: email }) };
}

export async function inviteColleague(demo: DemoRuntime, team: TeamRow, by: DemoMember): Promise<void> {
  const invitation = { email: `luis@${demoDomain}`, role: 'member' } as const;
  await inviteMember({ ...demo, mailHealth: new MailHealth() }, team.id, invitation, by.act());
}

/** The API key of the booking system. The text of a demo's key is never shown. */
export interface DemoKeys {
  readonly bookingId: KeyId;
  readonly noteUse: () => void;
  readonly flush: () => Promise<void>;
}

/** Makes a key that sends, one that is never used, and one that is revoked at once. */
export async function createDemoKeys(demo: DemoRuntime, team: TeamRow, admin: DemoMember): Promise<DemoKeys> {
  const create = async (name: string, permissions: readonly Grant[]) => {
    const creator = { id: admin.id, grants: roleGrants.admin };
    return (await createKey(demo.trx, demo, { teamId: team.id, name, permissions, creator, by: admin.act() }))
      .row;
  };
  const former = await create('Booking system, old server', ['messages:send']);
  const booking = await create('Booking system', ['messages:send', 'numbers:read']);
  await create('Monthly report', ['messages:read', 'team:read']);
  await revokeKey(demo, { teamId: team.id, keyId: former.id, memberId: admin.id, by: admin.act() });
  const uses = new LastUsedTimes(demo);
  return { bookingId: booking.id, noteUse: () => uses.record(booking.id), flush: () => uses.flush() };
}
