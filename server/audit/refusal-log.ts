import type { Runtime } from '#server/database/runtime.ts';
import type { CompletedRequest } from '#server/http/request-log.ts';
import { clientNetwork } from '#server/platform/network/ip-address.ts';
import { type AuditRecord, isAuditAction, recordAudit } from './audit.ts';

/* Limits of repeated refusals in the audit log (specification section 12.6). */

/** Time in which equal refusals are counted; one row then records all of them. */
const refusalWindowMs = 60_000;

/** Upper bound on the kinds of refusals of one team or account that a window records. */
export const refusalKindsMax = 100;

/** Longer than any public id. A requested target may be any text, and is cut to this length. */
const targetMaxCharacters = 64;

/** Upper bound on the kinds of refusals that a process keeps in memory, of all teams and accounts. */
const kindsOfProcessMax = 10_000;

/** A kind of equal refusals: same caller, client network, action and error code. */
interface Kind {
  /** The team or account whose audit log records the refusals. */
  readonly owner: string;
  latest: AuditRecord;
  /** Number of refusals since the last row. */
  repeats: number;
}

/**
 * Records refusals of known callers after the answer, so that no request waits for it (specification section 12.6). The
 * first refusal of a kind makes a row at once. Repeats are folded: they are counted in memory, and each minute ends
 * with one row for all of them. So a flood of refusals cannot fill the log. `drain` writes the counts at a stop.
 * Internal errors and rate limits are not recorded.
 */
export class RefusalLog {
  readonly #services: Runtime;
  readonly #pending = new Set<Promise<void>>();
  readonly #kinds = new Map<string, Kind>();
  readonly #kindsOf = new Map<string, number>();
  /** Number of refusals that are not recorded, because there are too many kinds. */
  #omitted = 0;
  #cancelAlarm: (() => void) | undefined;

  constructor(services: Runtime) {
    this.#services = services;
  }

  note(answered: CompletedRequest): void {
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

  /** Records a refusal; called directly for a wrong password, which concerns an account but has no known caller. */
  write(refused: AuditRecord): void {
    this.#cancelAlarm ??= this.#services.clock.after(refusalWindowMs, () => this.#endWindow());
    const { by, action, refusedWith } = refused;
    const owner = refused.teamId ?? refused.accountId ?? '';
    const key = [owner, by.kind, by.id, clientNetwork(by.ip), action, refusedWith].join(' ');
    const known = this.#kinds.get(key);
    if (known) {
      known.latest = refused;
      known.repeats += 1;
      return;
    }
    const kindsOfOwner = this.#kindsOf.get(owner) ?? 0;
    if (kindsOfOwner >= refusalKindsMax || this.#kinds.size >= kindsOfProcessMax) {
      this.#omitted += 1;
      return;
    }
    this.#kindsOf.set(owner, kindsOfOwner + 1);
    const kind = { owner, latest: refused, repeats: 0 };
    this.#kinds.set(key, kind);
    this.#record(kind, refused, 1);
  }

  /** Writes the pending counts. @returns once all rows are written */
  async drain(): Promise<void> {
    this.#cancelAlarm?.();
    this.#endWindow();
    await Promise.all(this.#pending);
  }

  /** A kind that was repeated stays in memory for the next minute, so that it makes one row per minute. */
  #endWindow(): void {
    this.#cancelAlarm = undefined;
    for (const [key, kind] of this.#kinds) {
      const { repeats, latest } = kind;
      if (repeats === 0) this.#forget(key, kind.owner);
      else {
        kind.repeats = 0;
        this.#record(kind, { ...latest, details: { ...latest.details, repeats } }, repeats);
      }
    }
    if (this.#omitted > 0) {
      this.#services.logger.warn(
        { refusals: this.#omitted },
        'the audit log omits some refusals: there were too many kinds of them within a minute',
      );
      this.#omitted = 0;
    }
    if (this.#kinds.size > 0)
      this.#cancelAlarm = this.#services.clock.after(refusalWindowMs, () => this.#endWindow());
  }

  #forget(key: string, owner: string): void {
    this.#kinds.delete(key);
    const left = (this.#kindsOf.get(owner) ?? 0) - 1;
    if (left > 0) this.#kindsOf.set(owner, left);
    else this.#kindsOf.delete(owner);
  }

  /** @param count the number of refusals in the row; if the write fails, they are added to `repeats` again */
  #record(kind: Kind, row: AuditRecord, count: number): void {
    const written = recordAudit(this.#services.database.pool, this.#services, row)
      .catch((error: unknown) => {
        kind.repeats += count;
        this.#services.logger.error(
          { err: error },
          'writing a refusal to the audit log failed; the server retries within a minute',
        );
      })
      .finally(() => this.#pending.delete(written));
    this.#pending.add(written);
  }
}

/** Removes U+0000 from a target: PostgreSQL can't store this character, which a percent-encoded path may contain. */
function storable(target: string): string {
  return target.slice(0, targetMaxCharacters).toWellFormed().replaceAll('\0', '\ufffd');
}
