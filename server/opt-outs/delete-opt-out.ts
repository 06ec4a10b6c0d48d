import type { Runtime } from '#server/database/runtime.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { AppError } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { optIn } from './change-opt-out.ts';
import { parseContact } from './contact.ts';

/**
 * Opts a contact in by request (specification section 4.6).
 * @param contact as the path has it
 * @throws AppError 400, param contact; 404 if the contact is not opted out
 */
export async function deleteOptOut(
  services: Pick<Runtime, 'database' | 'clock' | 'ids' | 'secrets'>,
  teamId: TeamId,
  contact: string,
  by: AuditActor,
): Promise<void> {
  const change = { teamId, contact: parseContact(contact), by };
  if (await services.database.transaction((trx) => optIn(trx, services, change))) return;
  throw new AppError(
    'not_found',
    'This contact is not opted out. Write it as GET /v1/opt-outs shows it, percent-encoded.',
  );
}
