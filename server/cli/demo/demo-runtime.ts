import type { Database } from '#server/database/database.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Transaction } from '#server/database/statement.ts';
import type { AuditActor } from '#server/platform/actor.ts';
import { Ids } from '#server/platform/ids/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import type { RoleChangeServices } from '#server/teams/members/apply-role.ts';

/** The runtime of a demo: one transaction, a clock in the past, and neither mail nor pacing. */
export type DemoRuntime = Runtime & RoleChangeServices & { readonly trx: Transaction };

/**
 * Makes a runtime whose use cases run in the caller's transaction, at times that `moveTo` sets. Its database has the
 * transaction in place of its pools. So all rows of a demo appear with one commit, and notifications follow it.
 * @param startMs the time at which the demo begins
 */
export function createDemoRuntime(runtime: Runtime, trx: Transaction, startMs: number): DemoRuntime {
  const clock = new Clock();
  clock.jump(startMs - clock.nowMs());
  const database: Database = Object.create(runtime.database, {
    batches: { value: trx },
    hot: { value: trx },
    pages: { value: trx },
    pool: { value: trx },
    transaction: { value: (work: (trx: Transaction) => Promise<unknown>) => work(trx) },
    notify: { value: trx.notifyAfterCommit },
  });
  return {
    ...runtime,
    trx,
    database,
    clock,
    ids: new Ids(clock),
    config: { ...runtime.config, mail: undefined, pacing: 'off' },
    onRoleChanged: [],
  };
}

/** Moves a demo's clock ahead to a time; an earlier time changes nothing. */
export function moveTo({ clock }: Pick<DemoRuntime, 'clock'>, timeMs: number): void {
  clock.jump(Math.max(0, timeMs - clock.nowMs()));
}

/** The actor of a request that a member of the demo made, from an address that is reserved for documentation. */
export function actorOf(
  { ids }: Pick<DemoRuntime, 'ids'>,
  kind: 'member' | 'key',
  { id, name }: { readonly id: string; readonly name: string },
): AuditActor {
  return {
    kind,
    id,
    name,
    ip: kind === 'key' ? '198.51.100.20' : '203.0.113.7',
    requestId: ids.nextPublic('req'),
  };
}
