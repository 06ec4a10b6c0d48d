import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Question } from '#shortcut/interpreter/permissions.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { idle, send, startScriptedServer } from '#test/support/shortcuts/scripted-server.ts';
import { endOf, ShortcutPhone, setupCodeOf } from '#test/support/shortcuts/shortcut-phone.ts';

const jpeg = Buffer.from('ffd8ffe000104a464946', 'hex');
const text = { ...send, text: 'A test' };
const picture = { ...text, media: '/v1/device/media/msg_1/photo.jpg' };
const later = { ...picture, id: 'msg_2', text: 'Later' };

/** An iPhone that is locked once it has sent its first text, on a server with these answers to polls. */
async function givenPhone(context: TestContext, answers: readonly object[]) {
  const server = await startScriptedServer(context, answers, (response, path) => {
    if (path === picture.media) response.setHeader('content-type', 'image/jpeg').end(jpeg);
    else response.setHeader('content-type', 'application/json').end('{"ok":"1","id":"msg_3"}');
  });
  const questions: Question[] = [];
  const phone = new ShortcutPhone({
    setupCode: setupCodeOf(server.origin, 'dev_1'),
    onSend: (message) => {
      if (message.kind === 'text') phone.lock();
    },
  });
  phone.onQuestion((question) => {
    questions.push(question);
    return 'always';
  });
  return { phone, questions, host: new URL(server.origin).host };
}

const refusal = /privacy permissions that cannot be granted while your device is locked/;

describe('permissions of the shortcuts on an iPhone (specification section 11.11)', () => {
  it('a test with picture and text asks all four questions, so that later runs work on a locked iPhone', async (context) => {
    const { phone, questions, host } = await givenPhone(context, [idle, picture, idle, later]);
    assert.deepEqual(await endOf(phone.startOutbox()), { kind: 'stopped' });
    assertEach(questions, ({ kind, host: asked }) => `${kind} ${asked}`, [
      `connect ${host}`,
      `connect ${host}`,
      'send Messages',
      'send Messages',
    ]);
    assert.equal(new Set(questions.map(({ action }) => action)).size, 4);
    assert.deepEqual(phone.texts, ['A test', 'Later']);
  });

  it('after a test with text only, the first picture ends a run on a locked iPhone', async (context) => {
    const { phone, questions } = await givenPhone(context, [text, later]);
    const end = await endOf(phone.startOutbox());
    assert.match(String(end.kind === 'failed' && end.error), refusal);
    assert.deepEqual(phone.texts, ['A test']);
    assert.equal(questions.length, 2);
  });

  it('the first run of Inbound fails on a locked iPhone, and only the answer Always Allow applies to later runs', async (context) => {
    const { phone, questions } = await givenPhone(context, []);
    const receive = async () => {
      const end = await endOf(phone.receive({ sender: '+12125550100', content: 'Yes', recipients: [] }));
      return end.kind === 'failed' ? end.error.message : end.kind;
    };
    phone.lock();
    assert.match(await receive(), refusal);
    phone.unlock();
    for (const [consent, end] of [
      ['never', /may not connect/],
      ['once', /completed/],
      ['always', /completed/],
      ['never', /completed/],
    ] as const) {
      phone.onQuestion((question) => {
        questions.push(question);
        return consent;
      });
      assert.match(await receive(), end, consent);
    }
    assert.equal(questions.length, 3);
    phone.lock();
    assert.equal(await receive(), 'completed');
  });
});

describe('automations in a file on iOS 27 (specification section 11.11)', () => {
  it('each switched-on automation that matches a text starts its own run, one after the other', async (context) => {
    let open = 0;
    const bodies: string[] = [];
    const answer = async (_url: unknown, init?: RequestInit) => {
      open += 1;
      assert.equal(open, 1, 'one run at a time');
      await new Promise(setImmediate);
      bodies.push(JSON.parse(String(init?.body)).text);
      open -= 1;
      return Response.json({ ok: '1', id: 'msg_1' });
    };
    context.after(() => phone.switchOff());
    const options = { setupCode: setupCodeOf('https://texts.example.com', 'dev_1'), fetch: answer };
    const phone = new ShortcutPhone({ ...options, systemVersion: '27.0' });
    const arrive = (content: string) => phone.incoming({ sender: '+12125550100', content, recipients: [] });
    assert.deepEqual(await arrive('Yes please'), []);
    phone.switchOnAutomations();
    const runs = await Promise.all([arrive('Yes please'), arrive('Nö'), arrive('👍')]);
    assertEach(runs, ({ length }) => length, [4, 1, 0]);
    assert.deepEqual(bodies, [...Array(4).fill('Yes please'), 'Nö']);
    const older = new ShortcutPhone(options);
    older.switchOnAutomations();
    assert.deepEqual(await older.incoming({ sender: '', content: 'Yes please', recipients: [] }), []);
  });
});
