import { normalizeEmail } from '#server/accounts/account/account.ts';
import { countInWindow } from '#server/accounts/throttling/throttle.ts';
import type { Queryable, Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { isMailFailing, type MailHealth } from '#server/mail/mail-health.ts';
import { findMailedReferences } from '#server/mail/mail-store.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { isMailEnabled, queueMail } from '#server/mail/queue-mail.ts';
import { rateLimited } from '#server/platform/app-error.ts';
import { publicId, type TeamId } from '#server/platform/ids.ts';
import { dayForPeople } from '#server/platform/time/calendar.ts';
import type { MemberProfileRow } from '#server/teams/members/members.ts';
import type { TeamRow } from '#server/teams/team/team.ts';
import type { InvitationRow } from './invitation-store.ts';

/** Limits of invitation mails per hour: to one address by all teams together, and by one team. */
const invitationMailsPerAddressAndHour = 5;

const invitationMailsPerTeamAndHour = 100;

/** Explains Ownline to invited people who have not heard of it. */
export const ownlineDescription =
  'Ownline sends and receives iMessages over the team’s own iPhones: people read and answer them in the browser, and programs do over its API.';

interface InvitationMail {
  readonly invitation: InvitationRow;
  readonly team: TeamRow;
  /** The member who invites; undefined for an API key. */
  readonly inviter: MemberProfileRow | undefined;
  readonly url: string;
}

export function invitationMailContent({ invitation, team, inviter, url }: InvitationMail): MailContent {
  const who = inviter === undefined ? 'You are invited' : `${inviter.name} (${inviter.email}) invites you`;
  const until = dayForPeople(invitation.expires_at);
  return {
    subject: `Join ${team.name} on Ownline`,
    heading: `Join ${team.name}`,
    paragraphs: [
      `${who} to the team ${team.name}, with the role ${invitation.role}.`,
      ownlineDescription,
      `The link works once, until ${until}.`,
    ],
    action: { label: `Join ${team.name}`, url },
    footnote: 'If you do not know this team, ignore this mail: nothing happens without you.',
  };
}

export interface InvitationServices extends Runtime {
  readonly mailHealth: MailHealth;
}

/**
 * Whether a member who invites gets the link in the answer, because mail is off or fails at present. Such a link
 * verifies no address (section 12.1), even if it is also mailed.
 */
export async function needsShownLink(db: Queryable, { config, mailHealth }: InvitationServices) {
  return !isMailEnabled(config) || isMailFailing(db, mailHealth);
}

/** Finds the invitations whose mail was sent or is on its way, by their public ids. */
export async function findMailedInvitations(
  db: Queryable,
  services: InvitationServices,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const countsWaiting = !(await needsShownLink(db, services));
  const mails = await findMailedReferences(db, { references: ids, countsWaiting });
  return new Set(mails.map(({ reference }) => reference));
}

/**
 * Queues the mail of an invitation, if mail is on, in the transaction that creates the invitation.
 * @throws AppError 429 if the address or the team exceeds the limit per hour
 */
export async function mailInvitation(
  trx: Transaction,
  services: Runtime,
  mail: InvitationMail & { readonly to: string },
): Promise<void> {
  if (!isMailEnabled(services.config)) return;
  await countInvitationMail(trx, services, mail.invitation.team_id, mail.to);
  await queueMail(trx, services, {
    to: mail.to,
    message: invitationMailContent(mail),
    expiresAt: mail.invitation.expires_at,
    reference: publicId('inv', mail.invitation.id),
  });
}

/**
 * Throttle of invitation mail, per address and per team. It counts in the transaction that
 * creates the invitation, so that a refused mail is not counted.
 * @throws AppError 429 with retry-after
 */
async function countInvitationMail(trx: Transaction, services: Runtime, teamId: TeamId, to: string) {
  const { counts, secondsLeft } = await countInWindow(trx, services, [
    `invitations address ${normalizeEmail(to)}`,
    `invitations team ${publicId('team', teamId)}`,
  ]);
  const [ofAddress = 0, ofTeam = 0] = counts;
  if (ofAddress <= invitationMailsPerAddressAndHour && ofTeam <= invitationMailsPerTeamAndHour) return;
  const whose = ofTeam > invitationMailsPerTeamAndHour ? 'by this team' : 'to this address';
  throw rateLimited(secondsLeft, `Too many invitations were mailed ${whose} in this hour`);
}
