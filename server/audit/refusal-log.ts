import type { Runtime } from '#server/database/runtime.ts';
import type { Answered } from '#server/platform/http/http-server.ts';
import { isAuditAction } from './audit-action.ts';
import { recordAudit } from './record-audit.ts';

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
    const written = recordAudit(this.#services.database.pool, this.#services, {
      by,
      action: audit,
      target: answered.target.slice(0, targetMaxCharacters),
      refusedWith: errorCode,
      ...(teamId === undefined ? {} : { teamId }),
      ...(accountId === undefined ? {} : { accountId }),
    })
      .catch((error: unknown) => this.#services.logger.error({ err: error }, 'a refusal was not noted'))
      .finally(() => this.#pending.delete(written));
    this.#pending.add(written);
  }

  async drain(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
