import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { HistoryPurge } from '#server/app/history-purge.ts';
import { putAuditEntry } from '#test/support/audit/given-audit-entries.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { newPerson } from '#test/support/people/people.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';

const dayMs = 86_400_000;

describe('retention of the audit log (§12.6/retention)', () => {
  let service: TestService;
  let team: TestTeam;

  const start = async (days: string) => {
    service = await startTestService({ ROLES: 'api', AUDIT_DAYS: days });
    team = await service.newTeam();
  };
  afterEach(() => service.close());

  const daysAgo = (days: number) => new Date(service.clock.nowMs() - days * dayMs);
  const addEntry = (at: Date, action: string) => putAuditEntry(service, { teamId: team.id }, at, action);
  const entries = async () => {
    const all = await storedAuditEntries(service, { teamId: team.id });
    return all.flatMap(({ action }) => (action === 'key.created' ? [] : [action]));
  };
  /** Runs the purge until nothing is left. Fails if that takes more than 50 rounds. */
  const purge = async () => {
    const history = new HistoryPurge(service.runtime);
    for (let round = 0; round < 50; round += 1) if ((await history.run()) === 'done') return;
    assert.fail('the purge does not end');
  };

  it('AUDIT_DAYS deletes older entries to the day, and nothing younger', async () => {
    await start('40');
    await addEntry(daysAgo(900), 'long ago');
    await addEntry(daysAgo(41), '41 days ago');
    await addEntry(daysAgo(39), '39 days ago');
    await purge();
    assert.deepEqual(await entries(), ['39 days ago', 'team.created']);
    service.clock.advance(2 * dayMs);
    await purge();
    assert.deepEqual(await entries(), ['team.created']);
  });

  it('entries of an account without a team are deleted, too', async () => {
    await start('40');
    const { account } = await newPerson(service);
    const add = (days: number) =>
      putAuditEntry(service, { accountId: account.id }, daysAgo(days), `${days} days ago`);
    for (const days of [900, 41, 39]) await add(days);
    await purge();
    const left = await storedAuditEntries(service, { accountId: account.id });
    assert.deepEqual(
      left.flatMap(({ action }) => (action.endsWith('days ago') ? action : [])),
      ['39 days ago'],
    );
  });

  it('AUDIT_DAYS=0, the default, keeps everything', async () => {
    await start('0');
    await addEntry(daysAgo(3_000), 'kept');
    service.clock.advance(4_000 * dayMs);
    await purge();
    assert.deepEqual(await entries(), ['kept', 'team.created']);
  });
});
