import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { isSendable } from '#server/media/media-type.ts';
import { shownFiles } from '#test/support/media/sample-files.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { idle, send, startScriptedServer } from '#test/support/shortcuts/scripted-server.ts';
import { endOf, ShortcutPhone, setupCodeOf } from '#test/support/shortcuts/shortcut-phone.ts';

const picture = Buffer.from('ffd8ffe000104a464946', 'hex');
const mediaFolder = '/v1/device/media/msg_1';

/** Serves one message with a picture, accepts its report, and stops the phone. */
async function handOut(
  context: TestContext,
  answerMedia: (response: ServerResponse) => void,
  phoneOptions: Partial<ConstructorParameters<typeof ShortcutPhone>[0]> = {},
  path = `${mediaFolder}/photo.jpg`,
) {
  const answers = [
    { ...send, text: 'Look', media: path },
    { ...send, id: 'msg_2', text: 'Next' },
    { ...idle, wait: '7' },
  ];
  const server = await startScriptedServer(context, answers, answerMedia);
  const phone = new ShortcutPhone({ setupCode: setupCodeOf(server.origin, 'dev_1'), ...phoneOptions });
  const run = phone.startOutbox();
  const media = () => server.received.filter((request) => request.path === path);
  return { phone, run, polls: server.polls, media };
}

/** Tests that Outbox reports a failure and sends nothing if a proxy answers in place of the picture. */
function itFails(type: string, body: string): void {
  it(`Ownline Outbox reports a failure if a proxy's error (${type}, ${body || 'empty'}) arrives instead of the picture (§11.11/error-page)`, async (context) => {
    const { phone, run, polls } = await handOut(context, (response) =>
      response.writeHead(502, { 'content-type': type }).end(body),
    );
    await phone.clock.pass(7_000);
    assert.deepEqual(await endOf(run), { kind: 'stopped' });
    assert.deepEqual(phone.sent, [{ kind: 'text', to: '+12125550100', text: 'Next' }]);
    assertEach(polls(), ({ last, last_status }) => [last, last_status], [
      ['none', 'sent'],
      ['msg_1', 'failed'],
      ['msg_2', 'sent'],
      ['none', 'sent'],
    ]);
  });
}

describe('Ownline Outbox with pictures (specification section 11.11)', () => {
  it('Ownline Outbox fetches a picture with its token, sends picture and text, and reports once (§11.11/outbox)', async (context) => {
    const { phone, run, polls, media } = await handOut(context, (response) =>
      response.setHeader('content-type', 'image/jpeg').end(picture),
    );
    await phone.clock.pass(7_000);
    assert.deepEqual(await endOf(run), { kind: 'stopped' });
    assert.deepEqual(phone.sent, [
      {
        kind: 'file',
        to: '+12125550100',
        file: { name: 'photo.jpg', mediaType: 'image/jpeg', bytes: picture },
      },
      { kind: 'text', to: '+12125550100', text: 'Look' },
      { kind: 'text', to: '+12125550100', text: 'Next' },
    ]);
    assertEach(media(), ({ method, headers }) => [method, headers['x-device-token']], [['GET', 'dev_1']]);
    const device = { device_name: 'Office iPhone', os: '26.1', v: '1' };
    assert.deepEqual(polls(), [
      { session: 'new', last: 'none', last_status: 'sent', ...device },
      { session: 'ses_1', last: 'msg_1', last_status: 'sent', ...device },
      { session: 'ses_1', last: 'msg_2', last_status: 'sent', ...device },
      { session: 'ses_1', last: 'none', last_status: 'sent', ...device },
    ]);
  });

  for (const [type, body] of [
    ['text/html; charset=utf-8', '<h1>Bad gateway</h1>'],
    ['text/plain', 'upstream connect error'],
    ['application/json', '{"error":"bad gateway"}'],
    ['application/json', '[]'],
    ['application/problem+json; charset=utf-8', '{"title":"Bad gateway"}'],
    ['application/json', '{"cut off":'],
    ['application/xml', '<Error><Code>AccessDenied</Code></Error>'],
    ['text/xml', '<Error/>'],
    ['image/jpeg', ''],
    ['text/plain', ''],
  ] as const)
    itFails(type, body);

  it('Ownline Outbox sends files of every type that goes out, with the extension of the type, and reports a failure for others (§11.11/error-page)', async (context) => {
    for (const [type, extension, bytes] of shownFiles) {
      const mediaPath = `${mediaFolder}/file.${extension}`;
      const { phone, run, polls } = await handOut(
        context,
        (response) => response.setHeader('content-type', type).end(bytes),
        {},
        mediaPath,
      );
      await phone.clock.pass(7_000);
      assert.deepEqual(await endOf(run), { kind: 'stopped' });
      const isSent = phone.sent.some(
        (message) => message.kind === 'file' && message.file.bytes.equals(bytes),
      );
      assert.equal(isSent, isSendable(type), type);
      assert.equal(polls()[1]?.last_status, isSent ? 'sent' : 'failed', type);
      assert.equal(phone.sent.length, isSent ? 3 : 1, type);
    }
  });

  it('a run of Ownline Outbox that loses the connection during a picture ends without sending', async (context) => {
    const { phone, run, polls } = await handOut(context, (response) => {
      response.setHeader('content-length', '100').write(picture);
      setImmediate(() => response.destroy());
    });
    assert.equal((await endOf(run)).kind, 'failed');
    assert.deepEqual(phone.sent, []);
    assert.equal(polls().length, 1);
  });

  it('Ownline Outbox does not send the text if Messages does not accept the picture', async (context) => {
    const { phone, run, polls } = await handOut(
      context,
      (response) => response.setHeader('content-type', 'image/jpeg').end(picture),
      {
        onSend: ({ kind }) => {
          if (kind === 'file') throw new Error('the interpreter did not accept the file');
        },
      },
    );
    assert.equal((await endOf(run)).kind, 'failed');
    assert.deepEqual(phone.sent, []);
    assert.equal(polls().length, 1);
  });
});
