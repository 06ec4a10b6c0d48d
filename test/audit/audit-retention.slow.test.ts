import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HistoryPurge } from '#server/operations/history-purge.ts';
import { readConfig } from '#server/platform/config.ts';
import type { AccountId, TeamId } from '#server/platform/ids.ts';
import { putAuditEntry } from '#test/support/audit/given-audit-entries.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { newPerson } from '#test/support/people/people.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const dayMs = 86_400_000;

describe('retention of the audit log (§12.6/retention)', () => {
  const { service, team } = givenTeam({ ROLES: 'api', AUDIT_DAYS: '40' });

  interface Owner {
    readonly teamId?: TeamId;
    readonly accountId?: AccountId;
  }
  const addEntries = async (of: Owner, ...days: readonly number[]) => {
    for (const n of days)
      await putAuditEntry(service, of, new Date(service.clock.nowMs() - n * dayMs), `${n} days ago`);
  };
  const entries = async (of: Owner) =>
    (await storedAuditEntries(service, of)).flatMap(({ action }) => (/days ago$/.test(action) ? action : []));
  /** Runs the purge until nothing is left. Fails if that takes more than 50 rounds. */
  const purge = async (config = service.runtime.config) => {
    const history = new HistoryPurge({ ...service.runtime, config });
    for (let round = 0; round < 50; round += 1) if ((await history.run()) === 'done') return;
    assert.fail('the purge does not end');
  };

  it('AUDIT_DAYS deletes older entries to the day, of a team and of an account without one, and nothing younger', async () => {
    const { account } = await newPerson(service);
    const owners = [{ teamId: team.id }, { accountId: account.id }];
    for (const of of owners) await addEntries(of, 900, 41, 39);
    await purge();
    for (const of of owners) assert.deepEqual(await entries(of), ['39 days ago']);
    service.clock.advance(2 * dayMs);
    await purge();
    for (const of of owners) assert.deepEqual(await entries(of), []);
  });

  it('AUDIT_DAYS=0, the default, keeps every audit entry', async () => {
    await addEntries({ teamId: team.id }, 3_000);
    service.clock.advance(4_000 * dayMs);
    await purge(readConfig({}));
    assert.deepEqual(await entries({ teamId: team.id }), ['3000 days ago']);
  });
});
