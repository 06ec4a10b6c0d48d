import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check } from '#campaign/checker.ts';
import { seededFaults } from '#campaign/seeded-faults.ts';
import { soundHistory } from '#campaign/sound-history.ts';
import { rules } from '#campaign/violation.ts';

describe('the checker of the campaign (docs/testing.md)', () => {
  it('the checker finds nothing in a sound history', () => {
    assert.deepEqual(check(soundHistory()), []);
  });

  it('each rule of the checker has a seeded fault', () => {
    assert.deepEqual([...new Set(seededFaults.map((fault) => fault.rule))].sort(), [...rules].sort());
    assert.equal(new Set(seededFaults.map((fault) => fault.name)).size, seededFaults.length);
  });

  for (const { name, rule, sow } of seededFaults) {
    it(`the checker finds a seeded fault and shows evidence: ${name}`, () => {
      const found = check(sow(soundHistory()));
      const named = found.filter((violation) => violation.rule === rule);
      assert.ok(named.length > 0, `found only ${JSON.stringify(found.map((violation) => violation.rule))}`);
      assert.ok(named.every((violation) => violation.evidence.length > 0));
    });
  }
});
