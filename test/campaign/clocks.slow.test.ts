import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holds, type Result } from '#campaign/clocks/clocks.ts';

describe('the verdict of the campaign of clocks (docs/testing.md)', () => {
  const sound: Result = {
    clock: 'database',
    step: 86_400,
    wrong429: 0,
    openAfterMinute: true,
    openAfterRestart: true,
    missing: [],
    logged: 2,
    shown: true,
  };

  it('a clock step passes if it was logged and shown, and nothing was refused, limited or lost', () => {
    assert.ok(holds(sound));
    assert.ok(holds({ ...sound, clock: 'both', step: -3_600 }));
    assert.ok(holds({ ...sound, clock: 'service', logged: 0, shown: false }));
  });

  it('a clock step fails if any one of its results is wrong', () => {
    const faults: readonly Partial<Result>[] = [
      { wrong429: 1 },
      { openAfterMinute: false },
      { openAfterRestart: false },
      { missing: ['the invitation is over'] },
      { logged: 0 },
      { shown: false },
      { clock: 'service' },
    ];
    for (const fault of faults) assert.ok(!holds({ ...sound, ...fault }), JSON.stringify(fault));
  });
});
