import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstIdAt, Ids, parseId, publicId } from '#server/platform/ids.ts';
import { Clock } from '#server/platform/time/clock.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { until } from '#test/support/service/until.ts';

describe('the clock (specification section 2.1, decision 0020)', () => {
  it('the clock follows the time that it is given, and never goes back', () => {
    const clock = new Clock();
    clock.follow(1_900_000_000_000, performance.now());
    const ahead = clock.nowMs();
    assert.ok(ahead >= 1_900_000_000_000 && ahead < 1_900_000_001_000, String(ahead));
    clock.follow(1_800_000_000_000, performance.now());
    assert.equal(clock.nowMs(), ahead);
  });

  it('the clock goes back only by a jump, and a jump does not change measured durations', () => {
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

  it('while the clock may be too far ahead, expiry times are compared with an earlier time', () => {
    const clock = new Clock();
    assert.ok(clock.mayExpire);
    clock.suspendExpiry(60_000);
    assert.ok(!clock.mayExpire);
    const apartMs = clock.nowMs() - clock.expiryNow().getTime();
    assert.ok(apartMs > 59_000 && apartMs <= 60_000, `${apartMs} ms`);
    clock.allowExpiry();
    assert.ok(clock.mayExpire && clock.nowMs() - clock.expiryNow().getTime() < 1_000);
  });

  it('the clock calls a function when a given time is reached', async () => {
    const clock = new Clock();
    const askedAtMs = clock.nowMs();
    let rang = false;
    clock.after(20, () => {
      rang = true;
    });
    await until('it rings', () => rang, 10_000);
    assert.ok(clock.nowMs() - askedAtMs >= 20);
  });

  it('the clock goes on measuring durations if the time that it is given steps back', async () => {
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

  it('the clock calls a function once if it is moved past the given time, and never after a cancel', () => {
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

  it('the clock can call a function after a year, although timers of Node are shorter', async () => {
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

  it('only texts in the defined format of ids are parsed as ids', () => {
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

  it('every time has a lowest id, which ids made from then on are not below', () => {
    const ms = clock.nowMs();
    const id = ids.next('msg');
    assert.ok(firstIdAt(ms) <= id);
    assert.ok(firstIdAt(ms + 1_000) > id);
  });
});
