import type { Runtime } from '#server/database/runtime.ts';
import type { Answered } from '#server/platform/http/http-server.ts';
import { isAuditAction } from './audit-action.ts';
import { type Done, recordAudit } from './record-audit.ts';

/** Longer than any public id: what was asked for need not have been one. */
const targetMaxCharacters = 64;

/**
 * Notes refusals of known callers (specification section 12.6), once they are answered: nobody waits for it, and a stop
 * waits until all are written. Failures of ours and the limits per minute are no decision about anybody and are left out.
 */
export class RefusalLog {
  readonly #services: Pick<Runtime, 'database' | 'ids' | 'clock' | 'logger'>;
  readonly #pending = new Set<Promise<void>>();

  constructor(services: Pick<Runtime, 'database' | 'ids' | 'clock' | 'logger'>) {
    this.#services = services;
  }

  note(answered: Answered): void {
    const { by, audit, errorCode, teamId, accountId } = answered;
    if (!by || errorCode === undefined || errorCode === 'internal_error' || errorCode === 'rate_limited')
      return;
    if (audit === undefined || !isAuditAction(audit)) return;
    this.write({
      by,
      action: audit,
      target: storable(answered.target),
      refusedWith: errorCode,
      ...(teamId === undefined ? {} : { teamId }),
      ...(accountId === undefined ? {} : { accountId }),
    });
  }

  /** What no caller is known of, and an account is concerned by: a wrong password. Nobody can tell by the answer. */
  write(refused: Done): void {
    const written = recordAudit(this.#services.database.pool, this.#services, refused)
      .catch((error: unknown) => this.#services.logger.error({ err: error }, 'a refusal was not noted'))
      .finally(() => this.#pending.delete(written));
    this.#pending.add(written);
  }

  async drain(): Promise<void> {
    await Promise.all(this.#pending);
  }
}

/** What PostgreSQL takes: an address may hold U+0000, percent-encoded, which no text of its does. */
function storable(target: string): string {
  return target.slice(0, targetMaxCharacters).toWellFormed().replaceAll('\0', '\ufffd');
}
