import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { FileForm } from '#contract/setup.ts';
import { inbound, outbox } from '#shortcut/shortcuts.ts';
import { automationCounts, type Instruction, isShown, steps } from '../../web/setup/steps.ts';

/** Upper bounds on the taps of a setup, by the iOS range of the shortcuts. */
const tapsMax = { 27: 60, 26: 110 } as const;

/** Adds up the effort of connecting an iPhone for the first time, with shortcuts that are offered as links. */
function effortOf(form: FileForm) {
  const done = steps[form].flatMap(({ instructions }) => instructions).filter((one) => isShown(one, 'links'));
  const sum = (of: (one: Instruction) => number) => done.reduce((total, one) => total + of(one), 0);
  const apps = done.map(({ place }) => place).filter((place) => place !== 'second_phone');
  return {
    // The last tap is on Finish and close the link.
    taps: sum(({ taps }) => taps) + 1,
    screens: sum(({ screens }) => screens) + 1,
    words: sum(({ typed = [] }) => typed.length),
    changes: apps.filter((app, index) => index > 0 && app !== apps[index - 1]).length,
  };
}

/** The table of docs/connect-an-iphone.md, computed from the steps of the page. */
const table = ([27, 26] as const).map((form) => {
  const { taps, screens, words, changes } = effortOf(form);
  const name = form === 27 ? 'iOS 27 and newer' : 'iOS 17 to 26';
  return `| ${name} | ${taps} | ${screens} | ${words} | ${changes} |`;
});

describe('the effort of connecting an iPhone', () => {
  for (const form of [27, 26] as const) {
    it(`connecting an iPhone with the shortcuts of iOS ${form} takes at most ${tapsMax[form]} taps`, () => {
      const { taps } = effortOf(form);
      assert.ok(taps <= tapsMax[form], `${taps} taps`);
    });
  }

  it('the guide docs/connect-an-iphone.md has the computed table of taps, screens, words and app changes', async () => {
    const guide = await readFile(new URL('../../docs/connect-an-iphone.md', import.meta.url), 'utf8');
    for (const row of table) assert.ok(guide.includes(row), `docs/connect-an-iphone.md lacks ${row}`);
  });

  it('the setup page names as many automations as the shortcut files for iOS 27 have', () => {
    assert.deepEqual(automationCounts, {
      inbound: inbound.triggers.length,
      outbox: outbox.triggers.length,
    });
  });
});
