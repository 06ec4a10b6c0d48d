import { type ContactRequest, contactsMax } from '#contract/contact.ts';
import { isE164 } from '#contract/phone-number.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Transaction } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { contactOf, removeSeparators } from '#server/opt-outs/contact.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { conflict, invalid, notFound } from '#server/platform/app-error.ts';
import { refuseHiddenCharacters } from '#server/platform/hidden-characters.ts';
import { type ContactId, publicId, type TeamId } from '#server/platform/ids.ts';
import { isMailAddress } from '#server/platform/mail-address.ts';
import { runTeamChange } from '#server/teams/members/members.ts';
import { planLimitExceeded } from '#server/teams/team/plans.ts';
import { lockTeam } from '#server/teams/team/team.ts';
import { countContacts, findContact, findNames, removeContact, writeContacts } from './contact-store.ts';

/** Normalizes a handle as everywhere (specification section 4.6). @returns undefined unless a contact may have it */
export function parseHandle(text: string): string | undefined {
  const handle = contactOf(removeSeparators(text.trim()));
  return isE164(handle) || isMailAddress(handle) ? handle : undefined;
}

/** @throws AppError 400, param name, handles or note */
function parseFields({ name: written, handles, note = '' }: ContactRequest) {
  const name = written.trim();
  if (name === '') throw invalid('name', 'name must have a character that is no space.');
  refuseHiddenCharacters('name', name);
  refuseHiddenCharacters('note', note.replaceAll(/\r?\n/g, ' '));
  const normalized = handles.map((handle, index) => {
    const parsed = parseHandle(handle);
    if (parsed !== undefined) return parsed;
    throw invalid(
      'handles',
      `handles must be phone numbers in E.164, such as +14155550101, and mail addresses; number ${index + 1} is neither.`,
    );
  });
  return { name, note, handles: [...new Set(normalized)] };
}

interface ContactTarget {
  readonly teamId: TeamId;
  readonly contactId: ContactId;
  readonly by: AuditActor;
}

/** Runs a change of contacts under the lock of the team, so that no other change gives a handle away meanwhile. */
function runChange<T>(
  services: Runtime,
  change: ContactTarget,
  verb: 'created' | 'changed' | 'deleted',
  work: (trx: Transaction) => Promise<T>,
): Promise<T> {
  return runTeamChange(services, { ...change, permission: 'messages:send' }, async (trx) => {
    const result = await work(trx);
    // Audit entries stay after an erasure, so they have no name and no handle.
    const { by, teamId, contactId } = change;
    await recordAudit(trx, services, {
      by,
      action: `contact.${verb}`,
      teamId,
      target: publicId('con', contactId),
    });
    return result;
  });
}

async function write(
  trx: Transaction,
  { clock }: Runtime,
  { teamId, contactId }: ContactTarget,
  fields: ReturnType<typeof parseFields>,
) {
  const owners = await findNames(trx, teamId, fields.handles);
  const taken = fields.handles.find((handle) => (owners.get(handle)?.id ?? contactId) !== contactId);
  const owner = taken === undefined ? undefined : owners.get(taken);
  if (owner) {
    throw conflict(
      `${taken} is a handle of the contact ${publicId('con', owner.id)}. Change that contact, or leave the handle out.`,
      'handles',
    );
  }
  await writeContacts(trx, teamId, [{ id: contactId, ...fields }], clock.now());
  return requireContact(trx, { teamId, contactId });
}

/** @throws AppError 404 */
export async function requireContact(...args: Parameters<typeof findContact>) {
  const contact = await findContact(...args);
  if (!contact) throw notFound('contact');
  return contact;
}

/**
 * Creates a contact (specification section 4.8).
 * @throws AppError 400, param name, handles or note; 402 if the team has `contactsMax` contacts; 409, param handles
 */
export function createContact(services: Runtime, teamId: TeamId, request: ContactRequest, by: AuditActor) {
  const fields = parseFields(request);
  const target = { teamId, contactId: services.ids.next('con'), by };
  return runChange(services, target, 'created', async (trx) => {
    const current = await countContacts(trx, { teamId });
    if (current >= contactsMax) {
      throw planLimitExceeded(services.config, {
        reason: `A team has at most ${contactsMax.toLocaleString('en')} contacts.`,
        remedy: 'Delete one',
        limit: contactsMax,
        current,
        isLargest: true,
      });
    }
    return write(trx, services, target, fields);
  });
}

/** Replaces a contact. @throws AppError 404; 400 and 409 as for a new one */
export function replaceContact(services: Runtime, target: ContactTarget, request: ContactRequest) {
  const fields = parseFields(request);
  return runChange(services, target, 'changed', async (trx) => {
    await requireContact(trx, target);
    return write(trx, services, target, fields);
  });
}

/** Deletes a contact, and none of its messages. @throws AppError 404 */
export function deleteContact(services: Runtime, target: ContactTarget): Promise<void> {
  return runChange(services, target, 'deleted', async (trx) => {
    if (!(await removeContact(trx, target))) throw notFound('contact');
  });
}

/**
 * Takes an erased handle from its contact (specification section 12.14). The contact goes with its last handle. Locks the
 * team, so that no change gives the handle back meanwhile.
 */
export async function eraseHandle(
  trx: Transaction,
  { clock }: Pick<Runtime, 'clock'>,
  teamId: TeamId,
  handle: string,
): Promise<void> {
  await lockTeam(trx, { teamId });
  const owner = (await findNames(trx, teamId, [handle])).get(handle);
  const contact = owner && (await findContact(trx, { teamId, contactId: owner.id }));
  if (!contact) return;
  const handles = contact.handles.filter((other) => other !== handle);
  // The note may be of the erased handle, or contain it.
  if (handles.length > 0) await writeContacts(trx, teamId, [{ ...contact, handles, note: '' }], clock.now());
  else await removeContact(trx, { teamId, contactId: contact.id });
}
