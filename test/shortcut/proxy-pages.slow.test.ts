import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { assertEach } from '#test/support/service/assert-each.ts';
import { endOf, ShortcutPhone, setupCodeOf } from '#test/support/shortcuts/shortcut-phone.ts';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';

/** Answers of proxies in which the prefixes of ids (`ses_`, `msg_`) are parts of other words. */
const pages = [
  ['text/html', '<p>uses_cookies error_msg_ {"action":"stop"}</p>'],
  ['text/plain', 'uses_cookies error_msg_'],
  ['application/json', '{"uses_cookies":"ses_1","error_msg_":"msg_1"}'],
  ['application/json', '{"session":"uses_cookies","id":"error_msg_1"}'],
  ['application/json', '["ses_1","msg_1"]'],
] as const;

/** Serves every page of `pages` in order, and then the answers in `objects`. */
async function startServer(context: TestContext, objects: readonly object[]) {
  const answers = [
    ...pages,
    ...objects.map((object) => ['application/json', JSON.stringify(object)] as const),
  ];
  const server = await startWebhookReceiver({
    behaviour: (response) => {
      const [type, body] = answers.shift() ?? ['application/json', '{"action":"stop"}'];
      response.setHeader('content-type', type).end(body);
    },
  });
  context.after(() => server.close());
  const phone = new ShortcutPhone({ setupCode: setupCodeOf(server.origin, 'dev_1') });
  const bodies = () => server.received.map(({ body }) => JSON.parse(String(body)));
  return { phone, bodies };
}

describe('proxy pages that contain ses_ and msg_ inside other words (specification section 11.11)', () => {
  it('Outbox repeats its poll and report after proxy pages that contain ses_ and msg_ inside other words (§11.11/outbox)', async (context) => {
    const hello = { action: 'send', session: 'ses_9', id: 'msg_9', to: '+12125550100', text: 'Hello' };
    const { phone, bodies } = await startServer(context, [
      { ...hello, media: 'none', wait: '0' },
      { ok: '0', reason: 'unavailable', wait: '15' },
      { action: 'idle', session: 'ses_9', wait: '7' },
    ]);
    const run = phone.startOutbox();
    for (const _ of pages) await phone.clock.pass(15_000);
    await phone.clock.pass(15_000);
    await phone.clock.pass(7_000);
    assert.deepEqual(await endOf(run), { kind: 'stopped' });
    assert.deepEqual(phone.texts, ['Hello']);
    assertEach(bodies(), ({ session, last }) => [session, last], [
      ...[...pages, 'the first answer'].map(() => ['new', 'none']),
      ['ses_9', 'msg_9'],
      ['ses_9', 'msg_9'],
      ['ses_9', 'none'],
    ]);
  });

  it('Inbound posts the text again after proxy pages that contain ses_ and msg_ inside other words (§11.11/inbound)', async (context) => {
    const { phone, bodies } = await startServer(context, [
      { ok: '0', reason: 'unavailable' },
      { ok: '0', reason: 'rate_limited' },
      { ok: '0', reason: 'a reason of a later version' },
      { ok: '1', id: 'msg_9' },
    ]);
    const run = phone.receive({ sender: '+12125550100', content: 'Yes', recipients: [] });
    for (const _ of [...pages, 1, 2, 3]) await phone.clock.pass(15_000);
    assert.deepEqual(await endOf(run), { kind: 'completed' });
    assertEach(
      bodies(),
      ({ text }) => text,
      [...pages, 1, 2, 3, 'stored'].map(() => 'Yes'),
    );
    const runs = bodies().map(({ run }) => run);
    assert.match(runs[0], /^\d{1,7}$/);
    assert.equal(new Set(runs).size, 1, 'all calls of a run have its number');
  });
});
