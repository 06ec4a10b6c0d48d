import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { compileActions } from '#shortcut/compile-workflow.ts';
import { connectionSteps, setupCode } from '#shortcut/connection.ts';
import { importShortcut } from '#shortcut/interpreter/import-shortcut.ts';
import { WorkflowError } from '#shortcut/interpreter/operation.ts';
import {
  inlineRunMaxMs,
  type OutgoingMessage,
  type RunOptions,
  runShortcut,
} from '#shortcut/interpreter/run-shortcut.ts';
import { buildWorkflow, inbound, outbox } from '#shortcut/shortcuts.ts';
import {
  type Condition,
  dictionary,
  dictionaryValue,
  keep,
  keepAsText,
  repeat,
  repeatEach,
  repeatItem,
  resultOf,
  type Step,
  sendMessage,
  setVariable,
  shortcutInput,
  stop,
  type Text,
  text,
  variable,
  wait,
  when,
} from '#shortcut/step.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { PhoneClock } from '#test/support/shortcuts/phone-clock.ts';
import { type Behaviour, startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';

const connection = { server: 'https://texts.example.com', deviceToken: 'dev_example' };

/** Makes a shortcut that consists of these steps. */
const workflowOf = (steps: readonly Step[], shortcut = outbox) => ({
  ...buildWorkflow(shortcut, connection),
  WFWorkflowActions: compileActions('test', steps),
});

/** Runs steps on a phone. `sent` collects the messages that it sends. */
async function run(steps: readonly Step[], options: RunOptions = {}, clock = new PhoneClock()) {
  const sent: OutgoingMessage[] = [];
  const phone = {
    clock,
    deviceName: 'Test iPhone',
    systemVersion: '26.1',
    sendMessage: (message: OutgoingMessage) => void sent.push(message),
  };
  return { end: await runShortcut(workflowOf(steps, options.input && inbound), phone, options), sent };
}

/** Makes steps that send `parts` as a text, so that a test can read their value. */
const show = (...parts: Text) => [
  ...keep('To', text('+14155550101')),
  ...keep('Shown', text(...parts, '.')),
  sendMessage(variable('Shown'), variable('To')),
];

const shownBy = async (steps: readonly Step[], options: RunOptions = {}) => {
  const { end, sent } = await run(steps, options);
  assert.deepEqual(end, { kind: 'completed' });
  return sent.map((message) => (message.kind === 'text' ? message.text : message.file.name));
};

const get = (url: string) => ({ kind: 'contents_of_url', url: [url], headers: [], json: undefined }) as const;

const serve = async (context: TestContext, behaviour: Behaviour) => {
  const server = await startWebhookReceiver({ behaviour });
  context.after(() => server.close());
  return server;
};

describe('actions run as an iPhone runs them (specification section 11.11)', () => {
  it('null, booleans, missing keys and arrays of JSON are converted as Shortcuts does', async (context) => {
    const json = { text: 'Hi', none: null, yes: true, no: false, some: ['a', 'b'], inner: { a: 1 }, n: 15 };
    const server = await serve(context, (response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(json)),
    );
    const contents = get(server.origin);
    const value = (key: string) => dictionaryValue(key, resultOf(contents));
    const shown = await shownBy([
      contents,
      ...['text', 'none', 'yes', 'no', 'some', 'inner', 'n', 'missing', 'toString'].flatMap((key) => {
        const found = value(key);
        return [found, ...show(resultOf(found))];
      }),
    ]);
    assert.deepEqual(shown, ['Hi.', '.', '1.', '0.', 'a\nb.', '{"a":1}.', '15.', '.', '.']);
  });

  it('the interpreter ignores the HTTP status, and reads an error page as a file', async (context) => {
    const server = await serve(context, (response, { path }) =>
      response
        .writeHead(path === '/page' ? 502 : 401, {
          'content-type': path === '/page' ? 'text/html' : 'application/json',
        })
        .end(path === '/page' ? '<h1>Bad gateway</h1>' : '{"reason":"unauthorized"}'),
    );
    const page = get(`${server.origin}/page`);
    const refusal = get(`${server.origin}/refusal`);
    assert.deepEqual(
      await shownBy([
        ...keep('Page', page),
        ...show(variable('Page'), ' ', { from: 'variable', name: 'Page', property: 'File Extension' }),
        refusal,
        ...show(resultOf(refusal)),
      ]),
      ['<h1>Bad gateway</h1> html.', '{"reason":"unauthorized"}.'],
    );
  });

  it('a POST sends its headers and texts as a JSON object, and a GET has no body', async (context) => {
    const server = await serve(context, (response) => response.end());
    await shownBy([
      ...keep('Words', text('two\nlines, "quoted" \\ 👋')),
      {
        kind: 'contents_of_url',
        url: [server.origin, '/post'],
        headers: [['x-device-token', ['dev_x']]],
        json: [
          ['words', [variable('Words')]],
          ['v', ['1']],
        ],
      } as const,
      get(`${server.origin}/get`),
    ]);
    const [post, read] = server.received;
    assert.deepEqual(JSON.parse(String(post?.body)), { words: 'two\nlines, "quoted" \\ 👋', v: '1' });
    assert.equal(post?.headers['x-device-token'], 'dev_x');
    assert.deepEqual([read?.method, read?.path, String(read?.body)], ['GET', '/get', '']);
  });

  it('a failing action ends the run: a lost connection, broken answer, 60 s of silence, no dictionary or no recipient', async (context) => {
    const server = await serve(context, (response, { path }) => {
      if (path === '/broken') {
        response.setHeader('content-length', '100').write('half');
        setImmediate(() => response.destroy());
      }
      if (path === '/page') response.setHeader('content-type', 'text/html').end('<p>hello</p>');
    });
    const closed = await startWebhookReceiver();
    await closed.close();
    const page = get(`${server.origin}/page`);
    for (const [index, failing] of [
      [0, [get(closed.origin)]],
      [0, [get(`${server.origin}/broken`)]],
      [0, [get('nowhere')]],
      [1, [page, dictionary(resultOf(page))]],
      ...['', 'AMAZON', '12345', '415 555 0101', '+1415', 'anna@'].map(
        (to) => [2, [...keep('To', text(to)), sendMessage(variable('To'), variable('To'))]] as const,
      ),
      [2, [...keep('Pause', text('soon')), wait(variable('Pause'))]],
    ] as const) {
      const { end, sent } = await run([...failing, ...show('after')]);
      assert.equal(end.kind === 'failed' && end.index, index, JSON.stringify(end));
      assert.deepEqual(sent, []);
    }
    const clock = new PhoneClock();
    const silent = run([get(`${server.origin}/silent`), ...show('after')], {}, clock);
    await clock.pass(60_000);
    assert.equal((await silent).end.kind, 'failed');
  });

  it('Send Message takes an e-mail address, and writes files of words, contacts and calendar entries as texts', async (context) => {
    const server = await serve(context, (response, { path }) =>
      response.setHeader('content-type', path.slice(1)).end(`as ${path}`),
    );
    for (const [type, kind] of [
      ['text/vcard', 'text'],
      ['text/calendar', 'text'],
      ['text/html', 'text'],
      ['application/xml', 'text'],
      ['application/pdf', 'file'],
      ['image/jpeg', 'file'],
    ] as const) {
      const to = 'anna@example.com';
      const file = get(`${server.origin}/${type}`);
      const { sent } = await run([
        ...keep('To', text(to)),
        ...keep('File', file),
        sendMessage(variable('File'), variable('To')),
      ]);
      const [message] = sent;
      assert.deepEqual([message?.kind, message?.to], [kind, to], type);
      if (message?.kind === 'text') assert.equal(message.text, `as /${type}`);
    }
  });

  it('If compares a text by is, is not, begins with and contains, and runs Otherwise if that is false or there is no text', async () => {
    const holds = async (held: string, condition: Condition, operand: string) => {
      const shown = await shownBy([
        ...keep('Held', text(held)),
        when([variable('Held'), condition, operand], show('yes'), show('no')),
      ]);
      return shown.join() === 'yes.';
    };
    assert.deepEqual(
      await Promise.all([
        holds('send', 'is', 'send'),
        holds('sent', 'is', 'send'),
        holds('1', 'is not', '0'),
        holds('0', 'is not', '0'),
        holds('', 'is not', '0'),
        holds('{"a":1}', 'begins with', '{'),
        holds(' {', 'begins with', '{'),
        holds('a ses_1 b', 'contains', 'ses_'),
        holds('<p>', 'contains', 'ses_'),
      ]),
      [true, false, true, false, false, true, false, true, false],
    );
  });

  it("Repeat repeats, Wait waits by the phone's clock, and Stop ends the run", async () => {
    const clock = new PhoneClock();
    const running = run(
      [repeat(3, [...show('round'), wait(15)]), ...show('end'), stop, ...show('never')],
      {},
      clock,
    );
    for (const _ of [1, 2, 3]) await clock.pass(15_000);
    const { end, sent } = await running;
    assert.deepEqual(end, { kind: 'stopped' });
    assertEach(sent, (message) => message.kind === 'text' && message.text, [
      'round.',
      'round.',
      'round.',
      'end.',
    ]);
  });

  it('a run ends after four minutes, and when its caller aborts it', async () => {
    const clock = new PhoneClock();
    const loop = [repeat(1000, [wait(30)])];
    const limited = run(loop, { limitMs: inlineRunMaxMs }, clock);
    for (let passedMs = 0; passedMs < inlineRunMaxMs; passedMs += 30_000) await clock.pass(30_000);
    assert.deepEqual((await limited).end, { kind: 'time_limit' });
    const ending = new AbortController();
    const aborted = run(loop, { signal: ending.signal });
    ending.abort();
    assert.deepEqual((await aborted).end, { kind: 'aborted' });
  });

  it('Repeat with Each runs once for each received message, with the message’s properties that an automation provides', async () => {
    const properties = show(repeatItem('Sender'), '|', repeatItem('Content'), '|', repeatItem('Recipients'));
    const steps = [repeatEach(shortcutInput, properties)];
    const input = [
      { sender: '+14155550101', content: 'Yes 👍', recipients: ['+14155550100', '+14155550102'] },
      { sender: '', content: 'No', recipients: [] },
    ];
    const shown = ['+14155550101|Yes 👍|+14155550100\n+14155550102.', '|No|.'];
    for (const count of [0, 1, 2])
      assert.deepEqual(await shownBy(steps, { input: input.slice(0, count) }), shown.slice(0, count));
    await assert.rejects(shownBy(properties), /reads Repeat Item before it is set/);
    await assert.rejects(
      shownBy([repeatEach(shortcutInput, steps)], { input }),
      /repeats within a Repeat with Each/,
    );
  });

  it('the interpreter refuses an If on a bare dictionary value or a difference of case, and a variable that is not set yet', async (context) => {
    const server = await serve(context, (response) =>
      response.setHeader('content-type', 'application/json').end('{"action":"send"}'),
    );
    const contents = get(server.origin);
    const action = dictionaryValue('action', resultOf(contents));
    await assert.rejects(
      run([contents, ...keep('Action', action), when([variable('Action'), 'is', 'send'], [])]),
      WorkflowError,
    );
    await run([contents, ...keepAsText('Action', action), when([variable('Action'), 'is', 'send'], [])]);
    for (const condition of ['is', 'is not', 'begins with', 'contains'] as const) {
      const steps = [...keep('Held', text('STOP')), when([variable('Held'), condition, 'stop'], [])];
      await assert.rejects(run(steps), /the case of letters decides/);
    }
    await assert.rejects(run([setVariable('Last', variable('Other'))]), WorkflowError);
  });
});

describe('the import of a file with a question (specification section 11.11)', () => {
  it('the import writes the answer to its question into one action and changes nothing else', () => {
    const file = buildWorkflow(outbox);
    const { WFWorkflowActions: actions, ...root } = importShortcut(file, ['the code']);
    const { WFWorkflowActions: before, ...rootBefore } = file;
    assert.deepEqual(root, { ...rootBefore, WFWorkflowImportQuestions: [] });
    const [first, ...others] = actions as typeof before;
    assert.equal(first?.WFWorkflowActionParameters.WFTextActionText, 'the code');
    assert.deepEqual(others, before.slice(1));
    assert.throws(() => importShortcut(file, ['one', 'two']), WorkflowError);
  });

  it('an imported shortcut reads address and token from the setup code, whatever characters they have', async () => {
    const workflow = {
      ...buildWorkflow(outbox),
      WFWorkflowActions: compileActions('test', [
        ...connectionSteps(undefined),
        ...show(variable('Server'), ' ', variable('Token')),
      ]),
    };
    const hostile = { server: 'https://texts.example.com/a?b=c&d', deviceToken: 'dev_a&b<c>"d"\\👋é' };
    const shownWith = async (code: string) => {
      const sent: OutgoingMessage[] = [];
      const phone = {
        clock: new PhoneClock(),
        deviceName: 'Test iPhone',
        systemVersion: '26.1',
        sendMessage: (message: OutgoingMessage) => void sent.push(message),
      };
      const end = await runShortcut(importShortcut(workflow, [code]), phone);
      return [end.kind, ...sent.map((message) => (message.kind === 'text' ? message.text : ''))];
    };
    assert.deepEqual(await shownWith(setupCode(hostile)), [
      'completed',
      `${hostile.server} ${hostile.deviceToken}.`,
    ]);
    assert.deepEqual(await shownWith('https://texts.example.com'), ['failed'], 'an address alone');
  });
});
