import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Check } from '#server/cli/doctor/check.ts';
import { checkShortcuts } from '#server/cli/doctor/check-shortcuts.ts';
import { findDifferences } from '#server/cli/doctor/compare-workflow.ts';
import { readConfig } from '#server/platform/config.ts';
import {
  isPropertyArray,
  isPropertyDictionary,
  type PropertyDictionary,
  type PropertyList,
} from '#shortcut/property-list/property-list.ts';
import { buildWorkflow, inbound, outbox, type Shortcut, shortcuts } from '#shortcut/shortcuts.ts';
import type { Workflow, WorkflowAction } from '#shortcut/workflow.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { startRecordServer } from '#test/support/shortcuts/record-server.ts';
import { actionName } from '#test/support/shortcuts/workflow-reader.ts';

describe('ownline doctor and the published shortcuts', () => {
  const records = given(startRecordServer);
  const dataDir = givenFolder('ownline-doctor-shortcuts-');

  const examine = (settings: Readonly<Record<string, string>>) =>
    Array.fromAsync(checkShortcuts(readConfig({ DATA_DIR: dataDir, ...settings }), [records.certificate]));
  /** Checks Inbound for iOS 27 behind this link, beside an Outbox that is right. */
  const examineInbound = async (link: string): Promise<readonly Check[]> => {
    const checks = await examine({
      SHORTCUT_OUTBOX_27_URL: records.share(outbox.name, buildWorkflow(outbox, undefined, 27)),
      SHORTCUT_INBOUND_27_URL: link,
    });
    const [, right, ...ofInbound] = checks.filter(
      ({ name, message }) => /link/.test(name) || /iOS 27/.test(message),
    );
    assert.match(right?.message ?? '', /^SHORTCUT_OUTBOX_27_URL leads to Ownline Outbox of this release/);
    return ofInbound;
  };
  const lines = (checks: readonly Check[]) => checks.map(({ state, message }) => `${state} ${message}`);

  it('ownline doctor says how iPhones of each iOS range get the shortcuts, and which settings publish them', async () => {
    const [older, newer, ...others] = await examine({});
    assert.deepEqual(others, []);
    assert.match(
      `${older?.state} ${older?.message}`,
      /^warning The shortcuts for iOS 17 to 26 are not published/,
    );
    assert.match(older?.fix ?? '', /^Set SHORTCUT_OUTBOX_URL and SHORTCUT_INBOUND_URL, or/);
    assert.match(`${newer?.state} ${newer?.message}`, /^warning The shortcuts for iOS 27 are not published/);
    assert.match(newer?.fix ?? '', /^Set SHORTCUT_OUTBOX_27_URL and SHORTCUT_INBOUND_27_URL, or/);
    const unsigned = join(dataDir, 'shortcuts', `${outbox.name}.shortcut`);
    await mkdir(join(dataDir, 'shortcuts/27'), { recursive: true });
    await writeFile(unsigned, 'bplist00');
    assert.match(
      (await examine({}))[0]?.message ?? '',
      /not published: .*Ownline Outbox\.shortcut is not signed/,
    );
    for (const { name } of shortcuts)
      await writeFile(join(dataDir, 'shortcuts/27', `${name}.shortcut`), 'AEA1');
    assert.match(lines(await examine({}))[1] ?? '', /^ok iPhones with iOS 27 get the signed files/);
    const signed = await examine({ SHORTCUT_SIGN_COMMAND: 'sign {in} {out}' });
    assertEach(signed, ({ state, message }) => [state, /that SHORTCUT_SIGN_COMMAND signs/.test(message)], [
      ['ok', true],
      ['ok', true],
    ]);
  });

  it('ownline doctor accepts links to the shortcuts of this release, also in the form in which the Shortcuts app shares them', async () => {
    const link = (shortcut: Shortcut, form: 26 | 27) =>
      records.share(shortcut.name, asShared(buildWorkflow(shortcut, undefined, form)));
    const checks = await examine({
      SHORTCUT_OUTBOX_URL: link(outbox, 26),
      SHORTCUT_INBOUND_URL: link(inbound, 26),
      SHORTCUT_OUTBOX_27_URL: link(outbox, 27),
      SHORTCUT_INBOUND_27_URL: link(inbound, 27),
    });
    assert.deepEqual(lines(checks), [
      'ok iPhones with iOS 17 to 26 get the shortcuts by SHORTCUT_OUTBOX_URL and SHORTCUT_INBOUND_URL.',
      'ok SHORTCUT_OUTBOX_URL leads to Ownline Outbox of this release.',
      'ok SHORTCUT_INBOUND_URL leads to Ownline Inbound of this release.',
      'ok iPhones with iOS 27 get the shortcuts by SHORTCUT_OUTBOX_27_URL and SHORTCUT_INBOUND_27_URL.',
      'ok SHORTCUT_OUTBOX_27_URL leads to Ownline Outbox of this release, with its automations, which arrive switched off.',
      'ok SHORTCUT_INBOUND_27_URL leads to Ownline Inbound of this release, with its automations, which arrive switched off.',
    ]);
  });

  const ours = buildWorkflow(inbound, undefined, 27);
  const actions = ours.WFWorkflowActions;
  const triggers = ours.WFWorkflowTriggers as readonly PropertyDictionary[];
  const connection = { server: 'https://texts.example.com', deviceToken: `dev_${'a'.repeat(47)}` };
  for (const [title, changed, expected] of [
    [
      'the device token of a phone',
      buildWorkflow(inbound, connection, 27),
      /^failed .* has a device token in it/,
    ],
    [
      'an older version',
      {
        ...ours,
        WFWorkflowActions: actions.map((one) => replaceText(one, /, version \S+\. /, ', version 0. ')),
      },
      /^warning .* is version 0, and this release has \d/,
    ],
    [
      'an action less',
      { ...ours, WFWorkflowActions: actions.toSpliced(2, 1) },
      /^failed .* has other actions: number 3 is setvariable instead of detect\.dictionary/,
    ],
    [
      'an action more',
      {
        ...ours,
        WFWorkflowActions: [...actions, { WFWorkflowActionIdentifier: 'x', WFWorkflowActionParameters: {} }],
      },
      /^failed .* has other actions: number \d+ is x instead of the end/,
    ],
    [
      'another address',
      { ...ours, WFWorkflowActions: actions.map((one) => replaceText(one, /\/v1\/device/, '/v2/device')) },
      /^warning .* has other values in the actions \d+ \(downloadurl\)/,
    ],
    [
      'no automations, as an older Mac signs it',
      buildWorkflow(inbound, undefined, 26),
      /^failed .* lacks 10 of 10 automations \(WFMessageTrigger “ ”, WFMessageTrigger “e”/,
    ],
    [
      'an automation twice',
      { ...ours, WFWorkflowTriggers: [...triggers, ...triggers.slice(1, 2)] },
      /^warning .* has automations that do not belong to it \(WFMessageTrigger “e”\)/,
    ],
    [
      'no import question',
      { ...ours, WFWorkflowImportQuestions: [] },
      /^failed .* does not ask for the setup code/,
    ],
    [
      'the switch of the lock screen',
      { ...ours, WFWorkflowIsDisabledOnLockScreen: true },
      /^failed .* does not run while the iPhone is locked/,
    ],
  ] satisfies [string, Workflow, RegExp][])
    it(`ownline doctor reports ${title} in a published shortcut`, async () => {
      const [check, ...others] = await examineInbound(records.share(inbound.name, changed));
      assert.deepEqual(others, []);
      assert.match(`${check?.state} ${check?.message}`, expected);
      assert.match(
        check?.fix ?? '',
        /^Publish Ownline Inbound for iOS 27 again, and set SHORTCUT_INBOUND_27_URL/,
      );
    });

  it('ownline doctor reports an automation with the wrong trigger', () => {
    for (const [shortcut, from, to, missing] of [
      [outbox, '"WFConnectionType":"both"', '"WFConnectionType":"connected"', 'WFPlugInTrigger both'],
      [inbound, /\{"Operator".*?\}\}/, '$&,$&', 'WFMessageTrigger “ ”'],
    ] as const) {
      const workflow = buildWorkflow(shortcut, undefined, 27);
      const [difference] = findDifferences(JSON.parse(JSON.stringify(workflow).replace(from, to)), workflow);
      assert.match(difference?.text ?? '', new RegExp(`^lacks 1 of \\d+ automations \\(${missing}\\)$`));
    }
  });

  it('ownline doctor fails for a link to another shortcut or to none, and warns if it could not check the link', async () => {
    const record = (address: string) =>
      JSON.stringify({
        fields: { name: { value: inbound.name }, shortcut: { value: { downloadURL: address } } },
      });
    for (const [link, expected] of [
      [
        records.share('Ownline Outbox 2', ours),
        /^failed .* leads to “Ownline Outbox 2” instead of Ownline Inbound/,
      ],
      [records.answerWith(404, '{}'), /^failed .* leads to no shortcut: localhost:\d+ answered with 404/],
      [
        'https://www.example.com/a/page',
        /^failed .* leads to no shortcut: it is no link to a shared shortcut/,
      ],
      [records.answerWith(503, ''), /^warning .* could not be checked: localhost:\d+ answered with 503/],
      [records.answerWith(200, 'a page'), /^warning .* the record of .* has another form than expected/],
      [records.answerWith(200, record('http://example.com/')), /^warning .* has another form than expected/],
      [
        records.answerWith(200, record('https://localhost:1/')),
        /^warning .* localhost:1 failed with ECONNREFUSED/,
      ],
      [
        records.share(inbound.name, Buffer.from('<plist/>')),
        /^warning .* its file is no binary property list/,
      ],
      [
        records.share(inbound.name, Buffer.alloc(2e6, 'bplist00')),
        /^warning .* localhost:\d+ failed with EFBIG/,
      ],
      [
        records.share(inbound.name, arraysThatNameTheNextTwice(30)),
        /^warning .* its file is no binary property list/,
      ],
      [
        'https://localhost:1/shortcuts/1',
        /^warning .* could not be checked: localhost:1 failed with ECONNREFUSED/,
      ],
    ] as const) {
      const [check, ...others] = await examineInbound(link);
      assert.deepEqual(others, []);
      assert.match(`${check?.state} ${check?.message}`, expected);
    }
  });
});

/** A property list of 162 bytes that a parser without a bound would expand to a billion arrays. */
function arraysThatNameTheNextTwice(levels: number): Buffer {
  const arrays = Array.from({ length: levels }, (_, n) => [0xa2, n + 1, n + 1]);
  const offsets = Array.from({ length: levels + 1 }, (_, n) => 8 + 3 * n);
  const trailer = Buffer.alloc(32);
  // The sizes of an offset and a reference, the number of objects, and the offset of the table of offsets.
  trailer.writeUInt16BE(0x0101, 6);
  trailer.writeUInt8(levels + 1, 15);
  trailer.writeUInt8(9 + 3 * levels, 31);
  return Buffer.concat([Buffer.from('bplist00'), Buffer.from([...arrays.flat(), 0xa0, ...offsets]), trailer]);
}

/** Replaces a text in the values of an action. */
function replaceText(action: WorkflowAction, from: RegExp, to: string): WorkflowAction {
  return JSON.parse(JSON.stringify(action).replace(from, to)) as WorkflowAction;
}

/**
 * Rewrites a file as Shortcuts may when a person shares it: other versions and UUIDs, names in another language, no
 * comments, no empty values.
 */
function asShared(workflow: Workflow): Workflow {
  const uuids = new Map<string, string>();
  const rewrite = (value: PropertyList, key = ''): PropertyList => {
    if (typeof value === 'string') {
      if (key === 'OutputName') return `${value} auf Deutsch`;
      if (!/^[0-9A-F]{8}-[0-9A-F-]{27}$/.test(value)) return value;
      uuids.set(value, uuids.get(value) ?? randomUUID());
      const uuid = uuids.get(value) ?? '';
      return key === 'OutputUUID' ? uuid.toUpperCase() : uuid;
    }
    if (isPropertyArray(value)) return value.map((item) => rewrite(item));
    if (!isPropertyDictionary(value)) return value;
    const entries = Object.entries(value).reverse();
    return Object.fromEntries(
      entries.flatMap(([name, item]) => (item === '' ? [] : [[name, rewrite(item, name)]])),
    );
  };
  const actions = workflow.WFWorkflowActions.filter((action) => actionName(action) !== 'comment');
  return {
    ...(rewrite({ ...workflow, WFWorkflowActions: actions }) as Workflow),
    WFWorkflowClientVersion: '5037.109',
    WFWorkflowName: 'a name',
  };
}
