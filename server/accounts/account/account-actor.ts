import type { FastifyRequest } from 'fastify';
import type { AuditActor } from '#server/platform/actor.ts';
import { publicId } from '#server/platform/ids/ids.ts';
import type { AccountRow } from './account-store.ts';

/** The audit actor of an account during its sign-in. */
export function accountActor(
  { id, email }: Pick<AccountRow, 'id' | 'email'>,
  request: Pick<FastifyRequest, 'ip' | 'id'>,
): AuditActor {
  return { kind: 'account', id: publicId('acc', id), name: email, ip: request.ip, requestId: request.id };
}
