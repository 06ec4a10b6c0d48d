import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import type { DeliveryLog } from '#contract/webhook.ts';
import { Throttle } from '../../web/live/throttle.ts';
import { withNewest } from '../../web/webhooks/delivery-pages.ts';

describe('reads of pages that follow the live stream (specification section 12.9)', () => {
  it('the interval of a throttle doubles under continuous requests, and is short again after a pause', (test) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    test.after(() => mock.timers.reset());
    let nowMs = 0;
    const ranAtMs: number[] = [];
    const throttle = new Throttle(3_000, () => ranAtMs.push(nowMs), 15_000);
    const pass = (ms: number, isBusy: boolean) => {
      for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 1_000, mock.timers.tick(1_000))
        if (isBusy) throttle.run();
    };
    pass(60_000, true);
    assert.deepEqual(ranAtMs, [0, 3_000, 9_000, 21_000, 36_000, 51_000]);
    pass(40_000, false);
    ranAtMs.length = 0;
    pass(7_000, true);
    assert.deepEqual(ranAtMs, [100_000, 103_000]);
    throttle.stop();
  });

  it('the newest page of a log is merged into the loaded pages, unless there is a gap (§12.12/page-webhooks)', () => {
    const page = (ids: string, has_more: boolean, cursor = ids.at(-1) ?? '') =>
      ({ deliveries: ids.split('').map((id) => ({ id })), cursor, has_more }) as unknown as DeliveryLog;
    const begun = { pages: [page('fe', true), page('dc', true)], pageParams: ['', 'e'] };
    const show = (newest: DeliveryLog) => {
      const { pages, pageParams } = withNewest(begun, newest);
      const ids = pages.map(
        ({ deliveries, cursor }) => `${deliveries.map(({ id }) => id).join('')}<${cursor}`,
      );
      assert.equal(pages.length, pageParams.length);
      return ids.join(' ');
    };
    assert.equal(show(page('gf', true)), 'gfe<e dc<c');
    assert.equal(show(page('ge', true)), 'ge<e dc<c', 'one fits the filters no more');
    assert.equal(show(page('hg', true)), 'hg<g', 'a gap');
    assert.equal(show(page('fedc', false)), 'fedc<c', 'the whole log');
    assert.equal(show(page('', true, 'e')), '<e dc<c', 'none of those that a page may examine fits');
    assert.equal(show(page('fd', true)), 'fd<e c<c', 'a page that reaches into the second');
  });
});
