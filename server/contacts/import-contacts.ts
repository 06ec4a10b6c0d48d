import type { FastifyRequest } from 'fastify';
import { contactsMax, type ImportedContacts, importChangesMax } from '#contract/contact.ts';
import { recordAudit } from '#server/audit/audit.ts';
import type { Queryable } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { readStreamedBody } from '#server/http/streamed-body.ts';
import { listNumbers } from '#server/numbers/number-store.ts';
import { normalizeSender } from '#server/opt-outs/normalize-sender.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { type AppError, conflict, unreadable } from '#server/platform/app-error.ts';
import { idMax, type TeamId } from '#server/platform/ids.ts';
import { runTeamChange } from '#server/teams/members/members.ts';
import { parseHandle } from './change-contact.ts';
import {
  countContacts,
  findNames,
  listContactsById,
  type WrittenContact,
  writeContacts,
} from './contact-store.ts';
import {
  cardLineEndsMax,
  csvLineEndsMax,
  importBatchMax,
  importedHandlesMax,
  importedPeopleMax,
} from './limits.ts';
import { type ImportPlan, planImport } from './plan-import.ts';
import { type FilePerson, readCsv } from './read-csv.ts';
import { readVCards } from './read-vcards.ts';

interface ImportRequest {
  readonly teamId: TeamId;
  /** Its body is the file. */
  readonly request: FastifyRequest;
  /** True changes nothing, and lists changes. */
  readonly isPreview: boolean;
  readonly by: AuditActor;
}

/** Imports people from files, one file of a team at a time in this process. */
export class ContactImports {
  readonly #services: Runtime;
  readonly #running = new Set<TeamId>();

  constructor(services: Runtime) {
    this.#services = services;
  }

  /** @throws AppError 400 for a file that can't be read, 409 while another import of the team runs */
  async run(request: ImportRequest): Promise<ImportedContacts> {
    const { teamId } = request;
    if (this.#running.has(teamId))
      throw conflict('Another import of the team is running. Import this file once it has ended.');
    this.#running.add(teamId);
    try {
      return await importContacts(this.#services, request);
    } finally {
      this.#running.delete(teamId);
    }
  }
}

/** Each batch is a transaction, so a kill leaves whole batches; a repeat of the file changes what is left. */
async function importContacts(services: Runtime, request: ImportRequest): Promise<ImportedContacts> {
  const { teamId, isPreview, by } = request;
  const { database, clock, ids } = services;
  const people = readPeople(await readFile(request.request));
  const numbers = await listNumbers(database.pool, { teamId, todayFirstId: idMax });
  const own = numbers.find(({ verified_at: verifiedAt }) => verifiedAt !== null)?.phone_number ?? '';
  /** The contacts that the preview of earlier batches would have written, by handle. */
  const previewed = new Map<string, WrittenContact>();
  let lines: ImportPlan['lines'] = new Map();
  const changes: ImportPlan['changes'][number][] = [];
  const skipped: ImportPlan['skipped'][number][] = [];
  for (let start = 0; start < people.length; start += importBatchMax) {
    const batch = people.slice(start, start + importBatchMax).map((person) => normalized(person, own));
    const plan = async (db: Queryable) => {
      const known = new Map([...(await listKnown(db, teamId, batch)), ...previewed]);
      const room = contactsMax - (await countContacts(db, { teamId })) - (isPreview ? createdOf(changes) : 0);
      return planImport(batch, { known, lines, room, newId: () => ids.next('con') });
    };
    const planned = isPreview
      ? await plan(database.pool)
      : await runTeamChange(services, { teamId, by, permission: 'messages:send' }, async (trx) => {
          const found = await plan(trx);
          const written = new Map(found.changes.map(({ contact }) => [contact.id, contact]));
          if (written.size === 0) return found;
          await writeContacts(trx, teamId, [...written.values()], clock.now());
          const details = { contacts: written.size };
          await recordAudit(trx, services, { by, action: 'contact.imported', teamId, details });
          return found;
        });
    if (isPreview)
      for (const { contact } of planned.changes)
        for (const handle of contact.handles) previewed.set(handle, contact);
    lines = planned.lines;
    changes.push(...planned.changes);
    skipped.push(...planned.skipped);
  }
  const created = createdOf(changes);
  return {
    created,
    updated: new Set(changes.map(({ contact }) => contact.id)).size - created,
    skipped,
    ...(isPreview && {
      changes: changes.slice(0, importChangesMax).map(({ line, action, contact: { name, handles } }) => ({
        ...{ line, action, name, handles: [...handles] },
      })),
    }),
  };
}

function createdOf(changes: ImportPlan['changes']): number {
  return changes.filter(({ action }) => action === 'create').length;
}

async function readFile(request: FastifyRequest): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  await readStreamedBody(request, async (bytes) => parts.push(bytes));
  return Buffer.concat(parts);
}

/** Reads a file by its content; browsers name the type of a CSV file in many ways. */
function readPeople(file: Uint8Array): FilePerson[] {
  const text = textOf(file);
  const people: FilePerson[] = [];
  let lineEnds = 0;
  for (const byte of file) if (byte === 0x0a || byte === 0x0d) lineEnds += 1;
  const hasCards = /^\s*BEGIN:VCARD/i.test(text);
  if (lineEnds > (hasCards ? cardLineEndsMax : csvLineEndsMax)) throw tooManyPeople();
  for (const person of hasCards ? readVCards(text) : readCsv(text)) {
    people.push(person);
    if (people.length > importedPeopleMax) throw tooManyPeople();
  }
  return people;
}

function tooManyPeople(): AppError {
  const max = importedPeopleMax.toLocaleString('en');
  return unreadable(
    `The file has more than ${max} people, or too many lines. Split it, and import each part.`,
  );
}

/** Decodes UTF-8; a file in another encoding is one of Windows. */
function textOf(file: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch {
    return new TextDecoder('windows-1252').decode(file);
  }
}

/** Normalizes handles. A phone number without a country code is one of the country of the team's number. */
function normalized(person: FilePerson, ownNumber: string): FilePerson {
  if ('reason' in person) return person;
  if (person.handles.length > importedHandlesMax)
    return {
      line: person.line,
      reason: `It has more than ${importedHandlesMax} phone numbers and mail addresses.`,
    };
  const handles = person.handles.flatMap((handle) => parseHandle(normalizeSender(handle, ownNumber)) ?? []);
  return { ...person, handles: [...new Set(handles)] };
}

async function listKnown(
  db: Queryable,
  teamId: TeamId,
  people: readonly FilePerson[],
): Promise<Map<string, WrittenContact>> {
  const handles = people.flatMap((person) => ('reason' in person ? [] : person.handles));
  const names = await findNames(db, teamId, handles);
  const contacts = await listContactsById(db, {
    teamId,
    ids: [...new Set([...names.values()].map(({ id }) => id))],
  });
  return new Map(contacts.flatMap((contact) => contact.handles.map((handle) => [handle, contact] as const)));
}
