import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { purgeAudit } from '#server/audit/purge-audit.ts';
import { createMonthPartition, ensurePartitions } from '#server/database/partitions.ts';
import { monthOf } from '#server/platform/time/calendar.ts';
import { holdAuditRead, putAuditEntry } from '#test/support/audit/given-audit-entries.ts';
import { auditMonths, storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { startTestService, type TestService, type TestTeam } from '#test/support/service/test-service.ts';

describe('retention of the audit log (§12.6/retention)', () => {
  let service: TestService;
  let team: TestTeam;

  const start = async (days: string) => {
    service = await startTestService({ ROLES: 'api', AUDIT_DAYS: days });
    team = await service.newTeam();
  };
  afterEach(() => service.close());

  /** Start of the month that is `ahead` months from now. */
  const monthAt = (ahead: number) => {
    const now = service.clock.now();
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1));
  };
  const addEntry = (at: Date, action: string) => putAuditEntry(service, team.id, at, action);
  const entries = async () => {
    const all = await storedAuditEntries(service, { teamId: team.id });
    return all.flatMap(({ action }) => (action === 'key.created' ? [] : [action]));
  };
  const months = () => auditMonths(service);

  it('AUDIT_DAYS deletes older months, rows without a partition included, and nothing younger', async () => {
    await start('40');
    await addEntry(monthAt(-1), 'last month');
    // No partition exists for the months of these rows.
    await addEntry(monthAt(-30), 'long ago');
    await addEntry(monthAt(-3), 'three months ago');
    assert.deepEqual(await entries(), ['long ago', 'three months ago', 'last month', 'team.created']);
    await purgeAudit(service.runtime);
    assert.deepEqual(await entries(), ['last month', 'team.created']);

    // With AUDIT_DAYS of 40, last month is deleted only 40 days after its end.
    service.clock.advance(monthAt(1).getTime() - service.clock.nowMs());
    await purgeAudit(service.runtime);
    assert.deepEqual(await entries(), ['last month', 'team.created']);
    service.clock.advance(15 * 86_400_000);
    await purgeAudit(service.runtime);
    assert.deepEqual(await entries(), ['team.created']);
  });

  it('an old month that was recreated without rows is not dropped', async () => {
    await start('1');
    service.clock.advance(monthAt(1).getTime() + 2 * 86_400_000 - service.clock.nowMs());
    const made = async () =>
      ensurePartitions(service.runtime.database.pool, service.clock, service.runtime.logger);
    await made();
    assert.equal(await purgeAudit(service.runtime), 2, 'that in which the team was made, and the one before');
    await made();
    const before = await months();
    assert.equal(await purgeAudit(service.runtime), 0);
    assert.deepEqual(await months(), before);
  });

  it('a month that is being read is dropped by a later round, and the failed attempt hardly delays writers', async () => {
    await start('40');
    await createMonthPartition(service.runtime.database.pool, 'audit_log', monthOf(monthAt(-4)));
    await addEntry(monthAt(-4), 'old');
    // A row in a month that has no partition.
    await addEntry(monthAt(-5), 'older');
    const reader = await holdAuditRead(service, 'old');
    assert.equal(await purgeAudit(service.runtime), 0);
    assert.equal((await team.api.put('/v1/team', { name: 'Still written' })).status, 200);
    await reader.release();
    assert.equal(await purgeAudit(service.runtime), 2);
    assert.deepEqual(await entries(), ['team.created', 'team.renamed']);
  });

  it('AUDIT_DAYS=0, the default, keeps everything', async () => {
    await start('0');
    await addEntry(monthAt(-100), 'kept');
    service.clock.advance(4_000 * 86_400_000);
    assert.equal(await purgeAudit(service.runtime), 0);
    assert.deepEqual(await entries(), ['kept', 'team.created']);
  });
});
