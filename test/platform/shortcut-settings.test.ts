import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '#server/platform/config.ts';

const outbox = 'https://www.icloud.com/shortcuts/0123456789abcdef0123456789abcdef';
const inbound = 'https://www.icloud.com/shortcuts/fedcba9876543210fedcba9876543210';

describe('settings of the shortcuts (docs/configuration.md)', () => {
  it('both links to the shortcuts for an iOS range are set or neither, and each is https', () => {
    assert.deepEqual(readConfig({}).shortcutLinks, { 26: undefined, 27: undefined });
    for (const form of [26, 27] as const) {
      const [outboxName, inboundName] =
        form === 26
          ? ['SHORTCUT_OUTBOX_URL', 'SHORTCUT_INBOUND_URL']
          : ['SHORTCUT_OUTBOX_27_URL', 'SHORTCUT_INBOUND_27_URL'];
      const { shortcutLinks } = readConfig({ [outboxName]: outbox, [inboundName]: inbound });
      assert.deepEqual(shortcutLinks, { 26: undefined, 27: undefined, [form]: { outbox, inbound } });
      const together = new RegExp(`${outboxName} and ${inboundName} must be set together`);
      assert.throws(() => readConfig({ [outboxName]: outbox }), together);
      assert.throws(() => readConfig({ [inboundName]: inbound }), together);
      for (const wrong of ['http://www.icloud.com/shortcuts/1', 'icloud.com', 'https://user:pw@example.com'])
        assert.throws(
          () => readConfig({ [outboxName]: wrong, [inboundName]: inbound }),
          new RegExp(`${outboxName} must be an address such as https://www\\.icloud\\.com`),
          wrong,
        );
    }
  });

  it('the signing command is split into words: quotes group them, and nothing is expanded', () => {
    const argvOf = (text: string) => readConfig({ SHORTCUT_SIGN_COMMAND: text }).shortcutSignCommand?.argv;
    const cases: Readonly<Record<string, readonly string[]>> = {
      'sign {in} {out}': ['sign', '{in}', '{out}'],
      '  "/opt/a tool"   --from={in}\t\'to {out}\' ': ['/opt/a tool', '--from={in}', 'to {out}'],
      'sign $HOME `id` {in};{out} "" \'"\'': ['sign', '$HOME', '`id`', '{in};{out}', '', '"'],
    };
    for (const [text, argv] of Object.entries(cases)) assert.deepEqual(argvOf(text), argv, text);
    for (const wrong of [
      'sign',
      'sign {in}',
      'sign {out}',
      '{in} {out}',
      'sign {in} "{out}',
      "sign ' {in} {out}",
    ])
      assert.throws(() => argvOf(wrong), /SHORTCUT_SIGN_COMMAND must be a program and its arguments/, wrong);
  });

  it('the environment of the signing command has no setting of the service', () => {
    const { shortcutSignCommand } = readConfig({
      SHORTCUT_SIGN_COMMAND: 'sign {in} {out}',
      PATH: '/usr/bin',
      SSH_AUTH_SOCK: '/tmp/agent',
      SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    });
    assert.deepEqual(shortcutSignCommand?.environment, { PATH: '/usr/bin', SSH_AUTH_SOCK: '/tmp/agent' });
  });
});
