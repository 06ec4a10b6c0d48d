import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstIdAt, Ids, parseId, publicId } from '#server/platform/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { until } from '#test/support/service/until.ts';

describe('the clock (specification section 2.1, decision 0007)', () => {
  it('the clock follows the given time, and never goes back', () => {
    const clock = new Clock();
    clock.follow(1_900_000_000_000, performance.now());
    const ahead = clock.nowMs();
    assert.ok(ahead >= 1_900_000_000_000 && ahead < 1_900_000_001_000, String(ahead));
    clock.follow(1_800_000_000_000, performance.now());
    assert.equal(clock.nowMs(), ahead);
  });

  it('the clock goes back only in a jump, and keeps the elapsed time', () => {
    const clock = new Clock();
    clock.follow(1_900_000_000_000, performance.now());
    const [before, elapsed] = [clock.nowMs(), clock.elapsedMs()];
    clock.jump(-3_600_000);
    assert.ok(clock.nowMs() >= before - 3_600_000 && clock.nowMs() < before - 3_590_000);
    assert.ok(clock.elapsedMs() >= elapsed);
    clock.jump(7_200_000);
    assert.ok(clock.nowMs() >= before + 3_600_000);
    assert.equal(clock.followedMs, 3_600_000);
    clock.follow(1_800_000_000_000, performance.now());
    assert.ok(clock.nowMs() >= before + 3_600_000, 'a correction does not take it back');
  });

  it('the clock compares expiry times with an earlier moment while it may be too far ahead', () => {
    const clock = new Clock();
    assert.ok(clock.mayExpire);
    clock.suspendExpiry(60_000);
    assert.ok(!clock.mayExpire);
    const apartMs = clock.nowMs() - clock.expiryNow().getTime();
    assert.ok(apartMs > 59_000 && apartMs <= 60_000, `${apartMs} ms`);
    clock.allowExpiry();
    assert.ok(clock.mayExpire && clock.nowMs() - clock.expiryNow().getTime() < 1_000);
  });

  it('the clock calls back when the time is reached', async () => {
    const clock = new Clock();
    const askedAtMs = clock.nowMs();
    let rang = false;
    clock.after(20, () => {
      rang = true;
    });
    await until('it rings', () => rang, 10_000);
    assert.ok(clock.nowMs() - askedAtMs >= 20);
  });

  it('the clock keeps measuring durations if the given time steps back', async () => {
    const clock = new Clock();
    clock.follow(1_900_000_000_000, performance.now());
    const { promise, resolve } = Promise.withResolvers<number>();
    const startedAt = performance.now();
    const elapsed = clock.elapsedMs();
    clock.after(50, () => resolve(performance.now() - startedAt));
    clock.follow(1_800_000_000_000, performance.now());
    clock.after(1, () => undefined);
    assert.ok((await promise) >= 49);
    assert.ok(clock.elapsedMs() > elapsed);
  });

  it('the clock calls back once if it was moved past the moment, and not after a cancel', () => {
    const clock = new Clock();
    const rung: string[] = [];
    clock.after(60_000, () => rung.push('minute'));
    clock.after(7_200_000, () => rung.push('hours'));
    const cancel = clock.after(60_000, () => rung.push('cancelled'));
    cancel();
    clock.advance(59_000);
    assert.deepEqual(rung, []);
    clock.advance(1_100);
    assert.deepEqual(rung, ['minute']);
    clock.advance(7_200_000);
    assert.deepEqual(rung, ['minute', 'hours']);
  });

  it('the clock calls back after a year, which is longer than a timer of the system can be', async () => {
    const clock = new Clock();
    const rung: string[] = [];
    const overflows: string[] = [];
    const onWarning = (warning: Error) => overflows.push(warning.name);
    process.on('warning', onWarning);
    const yearMs = 365 * 24 * 3_600_000;
    clock.after(yearMs, () => rung.push('year'));
    clock.after(20, () => rung.push('soon'));
    await until('the short one rings', () => rung.includes('soon'), 10_000);
    process.off('warning', onWarning);
    assert.deepEqual([rung, overflows], [['soon'], []]);
    clock.advance(yearMs);
    assert.deepEqual(rung, ['soon', 'year']);
  });
});

describe('ids (§2.1/id-format)', () => {
  const clock = new Clock();
  const ids = new Ids(clock);

  it('ids sort in the order they were made, many of them in one millisecond', () => {
    const made = Array.from({ length: 5_000 }, () => ids.next('msg'));
    assert.deepEqual(made, [...made].sort());
    assertEach(made, (id) => publicId('msg', id), made.map((id) => publicId('msg', id)).sort());
  });

  it('only ids in the defined format are parsed', () => {
    const id = ids.next('num');
    const text = publicId('num', id);
    assert.match(text, /^num_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    assert.equal(parseId('num', text), id);
    const others = [
      text.toUpperCase(),
      text.replace('num', 'msg'),
      `${text}0`,
      text.slice(0, -1),
      'num_',
      '',
      id,
    ];
    for (const other of others) assert.equal(parseId('num', other), undefined, other);
    assert.equal(parseId('num', 'num_8zzzzzzzzzzzzzzzzzzzzzzzzz'), undefined, 'more than 128 bits');
  });

  it('every moment has a lower bound of the ids that are made from then on', () => {
    const ms = clock.nowMs();
    const id = ids.next('msg');
    assert.ok(firstIdAt(ms) <= id);
    assert.ok(firstIdAt(ms + 1_000) > id);
  });
});
