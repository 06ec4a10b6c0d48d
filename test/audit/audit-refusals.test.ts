import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import type { Grant } from '#contract/permissions.ts';
import { RefusalLog, refusalKindsMax } from '#server/audit/refusal-log.ts';
import { publicId } from '#server/platform/ids.ts';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import type { TestTeam } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

const minuteMs = 60_000;

describe('repeated refusals in the audit log (§12.6/repeated-refusals)', () => {
  let team: TestTeam;
  const service = givenService();

  const rowsOf = async ({ id: teamId }: TestTeam) => {
    const entries = await storedAuditEntries(service, { teamId });
    return entries
      .filter(({ outcome }) => outcome === 'refused')
      .map(({ action, target, actorId, errorCode, details }) => ({
        action,
        target,
        actorId,
        errorCode,
        details: details as Readonly<Record<string, unknown>>,
      }));
  };
  const untilRows = (count: number) =>
    until(`${count} rows`, async () => {
      const rows = await rowsOf(team);
      return rows.length >= count && rows;
    });
  /** Sends requests that are refused with 403, one after the other. */
  const refuse = async (api: ApiClient, times: number) => {
    for (let n = 0; n < times; n += 1) {
      const answer = await api.put(`/v1/numbers/num_nonsense${n}`, { label: 'x' });
      assert.equal(answer.status, 403);
    }
  };

  it('100 equal refusals of one caller make two rows, and the second row is written at the minute’s end', async () => {
    team = await service.newTeam();
    const narrow: Grant[] = ['messages:read'];
    const key = await service.makeKey(team.id, narrow);
    const reader = new ApiClient(service.baseUrl, key.key);
    await refuse(reader, 100);
    const [first] = await untilRows(1);
    assert.deepEqual(first, {
      action: 'number.changed',
      target: 'num_nonsense0',
      actorId: publicId('key', key.id),
      errorCode: 'forbidden',
      details: {},
    });
    // Refusals of another operation, code or caller get separate entries.
    assert.equal((await reader.post('/v1/webhooks', { nothing: true })).status, 403);
    await refuse(await service.newKey(team.id, narrow), 1);
    assert.equal((await untilRows(3)).length, 3);
    service.clock.advance(minuteMs);
    const rows = await untilRows(4);
    assert.deepEqual(rows[3], { ...first, target: 'num_nonsense99', details: { repeats: 99 } });
    assert.equal(rows.length, 4);
  });

  it('refusals that go on for minutes make one audit entry a minute', async () => {
    team = await service.newTeam();
    const reader = await service.newKey(team.id, ['messages:read']);
    for (const [repeats, rows] of [
      [3, 2],
      [2, 3],
      [1, 4],
    ] as const) {
      await refuse(reader, rows === 2 ? 1 + repeats : repeats);
      service.clock.advance(minuteMs);
      assert.deepEqual((await untilRows(rows)).at(-1)?.details, { repeats });
    }
    service.clock.advance(minuteMs);
    await refuse(reader, 1);
    assert.deepEqual((await untilRows(5)).at(-1)?.details, {}, 'at once again');
  });

  it('a stop of the process writes the refusals that were counted but not yet in the audit log', async () => {
    team = await service.newTeam();
    const key = await service.makeKey(team.id, ['messages:read']);
    const other = await service.startAnother();
    await refuse(new ApiClient(other.baseUrl, key.key), 7);
    await other.close();
    assertEach(await rowsOf(team), ({ details }) => details, [{}, { repeats: 6 }]);
  });

  it('10,000 different refusals make a bounded number of audit rows, and the log says that there were more', async () => {
    team = await service.newTeam();
    const logged: string[] = [];
    const logger = pino({ base: null }, { write: (line) => void logged.push(line) });
    const refusals = new RefusalLog({ ...service.runtime, logger });
    for (let n = 0; n < 10_000; n += 1) {
      refusals.write({
        by: { kind: 'key', id: 'key_nonsense', name: 'key', ip: `10.0.${n % 200}.1`, requestId: `req_${n}` },
        action: 'number.changed',
        teamId: team.id,
        refusedWith: 'forbidden',
      });
    }
    await refusals.drain();
    assert.equal((await rowsOf(team)).length, 2 * refusalKindsMax);
    const noted = (await rowsOf(team)).reduce((sum, { details }) => sum + Number(details.repeats ?? 1), 0);
    assert.equal(noted, 10_000 / 2);
    assert.equal(logged.length, 1);
    assert.match(String(logged), /"refusals":5000,/);
  });
});
