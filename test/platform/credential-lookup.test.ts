import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sha256 } from '#server/platform/crypto.ts';
import { CredentialLookup } from '#server/platform/network/credential-lookup.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { nextMinute } from '#test/support/service/next-minute.ts';
import { until } from '#test/support/service/until.ts';

const attacker = '198.51.100.1';
const other = '203.0.113.1';

/** Makes a look-up whose statements end when the test ends them. @param valid the credentials that exist */
function manual(valid: readonly string[] = [], rateLimits = true) {
  const clock = new Clock();
  const statements: { readonly size: number; readonly finish: () => void }[] = [];
  const lookup = new CredentialLookup<{ readonly hash: Buffer; readonly text: string }>({
    clock,
    config: { rateLimits },
    find: (hashes) =>
      new Promise((resolve) => {
        const rows = valid.map((text) => ({ hash: sha256(text), text }));
        const finish = () => resolve(rows.filter(({ hash }) => hashes.some((one) => one.equals(hash))));
        statements.push({ size: hashes.length, finish });
      }),
  });
  const many = (name: string, count: number, ip: string) =>
    Promise.all(Array.from({ length: count }, (_, n) => lookup.find(`${name} ${n}`, ip)));
  return { clock, lookup, statements, many };
}

describe('look-ups of credentials (§7.2/refused-keys)', () => {
  it('any number of look-ups run at most two database statements at a time', async () => {
    const { statements, many } = manual();
    const looked = many('wrong', 3_000, other);
    await until('two statements', () => statements.length === 2);
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    assert.equal(statements.length, 2);
    const total = () => statements.reduce((sum, { size }) => sum + size, 0);
    for (let n = 0; n === 0 || total() < 3_000 || n < statements.length; n += 1) {
      await until('the next statement', () => statements.length > n);
      statements[n]?.finish();
    }
    assert.equal((await looked).length, 3_000);
    assert.ok(statements.length <= 5, `${statements.length} statements`);
  });

  it('look-ups beyond the limit of a client network share one statement, and delay no other network', async () => {
    const { clock, lookup, statements, many } = manual(['valid', 'wrong 7']);
    nextMinute(clock);
    for (let n = 0; n < 60; n += 1) assert.equal(lookup.refuse(attacker), undefined);
    assert.ok(lookup.refuse(attacker));
    const held = many('wrong', 500, attacker);
    await until('the statement of the network', () => statements.length === 1);
    const later = many('later', 500, attacker);
    const valid = lookup.find('valid', other);
    await until('the statement of the other network', () => statements.length === 2);
    statements[1]?.finish();
    assert.equal((await valid)?.text, 'valid');
    statements[0]?.finish();
    assert.equal((await held)[7]?.text, 'wrong 7', 'a valid one among them is found');
    await until('the next statement of the network', () => statements.length === 3);
    statements[2]?.finish();
    await later;
    assertEach(statements, ({ size }) => size, [500, 1, 500]);
  });

  it('an unknown credential is refused from memory for 10 s, and simultaneous look-ups of one credential share a statement', async () => {
    const { clock, lookup, statements } = manual();
    const look = () => lookup.find('wrong', other);
    const first = [look(), look(), look()];
    await until('the statement', () => statements.length === 1);
    statements[0]?.finish();
    assert.deepEqual(await Promise.all(first), [undefined, undefined, undefined]);
    assert.equal(statements[0]?.size, 1);
    clock.advance(9_000);
    assert.equal(await look(), undefined);
    assert.equal(statements.length, 1);
    clock.advance(1_001);
    const again = look();
    await until('another statement', () => statements.length === 2);
    statements[1]?.finish();
    await again;
  });
});
