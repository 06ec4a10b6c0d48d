import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { leftThings, openSetupPage } from '#test/support/setup/setup-page.ts';

const friend = '+14155559901';
const computer = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15';
const times = ['time-8', 'time-12', 'time-16', 'time-20', 'charger'];
const all = [
  'ready',
  'privacy-Ownline-Outbox',
  'privacy-Ownline-Inbound',
  'arrived',
  'asked-none',
  'received-locked',
  ...times,
];

/**
 * The open items after the first poll. BASE_URL is an address of this machine, so the check of the address never
 * passes.
 */
const leftAtFirst = [
  'This iPhone reaches Ownline',
  'The iPhone is ready',
  'Ownline Outbox may run while locked',
  'Ownline Inbound may run while locked',
  'iPhone sends texts',
  'The second phone got the test text',
  'Replies of one word come in',
  'Replies of several words come in',
  'Answer the question about Y, C, 1 or 2',
  ...['8:00 AM', '12:00 PM', '4:00 PM', '8:00 PM'].map(
    (time) => `Automation at ${time} starts Ownline Outbox`,
  ),
  'Automation of the charger starts Ownline Outbox',
  'Still sending while locked',
  'A text came in while it was locked',
];

describe('the setup page counts and lists its open items (specification section 11.8)', () => {
  const { service, team } = givenTeam();

  /** Submits the form with ticks for these names. @param kept the ticks that the page had when the form was shown */
  const tick = (
    setupUrl: string,
    names: readonly string[],
    path = '/ticks',
    kept: readonly string[] = [],
  ) => {
    const ticks = Object.fromEntries(names.map((name) => [`made-${name}`, 'yes']));
    return openSetupPage({ setupUrl, path, form: { ...ticks, kept: kept.join(' ') } });
  };
  const ticked = (html: string) =>
    [...html.matchAll(/name="made-([\w-]+)"[^>]* checked/g)].map(([, name]) => name);

  it('ticked boxes are stored with the setup link, so that each page of the link shows them (§11.8/ticks)', async () => {
    const { setupUrl } = await connectNumber(service, team);
    const other = await connectNumber(service, team);
    await tick(setupUrl, [...all, 'another']);
    assert.deepEqual(ticked((await openSetupPage({ setupUrl })).html).sort(), all.toSorted());
    assert.match(
      (await openSetupPage({ setupUrl, agent: computer })).html,
      /Automation at 8:00 AM starts Ownline Outbox<span class="sr"> \(ticked\)/,
    );
    await tick(setupUrl, ['ready'], '/ticks', all);
    assert.deepEqual(ticked((await openSetupPage({ setupUrl })).html), ['ready']);
    assert.deepEqual(ticked((await openSetupPage({ setupUrl: other.setupUrl })).html), []);
  });

  it('the form of an older page changes only the boxes that were changed on it (§11.8/ticks)', async () => {
    const { setupUrl } = await connectNumber(service, team);
    const before = await openSetupPage({ setupUrl });
    assert.match(before.html, /name="kept" value=""/);
    await tick(setupUrl, ['ready', 'charger']);
    await tick(setupUrl, ['time-12']);
    const after = await openSetupPage({ setupUrl });
    assert.deepEqual(ticked(after.html).sort(), ['charger', 'ready', 'time-12']);
    const [, kept = ''] = /name="kept" value="([^"]*)"/.exec(after.html) ?? [];
    assert.deepEqual(kept.split(' ').sort(), ['charger', 'ready', 'time-12']);
    const followed = await openSetupPage({ setupUrl, path: `/progress?view=phone&seen=${before.version}` });
    assert.deepEqual(ticked(followed.html).sort(), ['charger', 'ready', 'time-12']);
    const { html } = await tick(setupUrl, ['time-8'], '/done');
    assert.doesNotMatch(html, /Automation of the charger|8:00 AM|12:00 PM/);
    assert.match(html, /Automation at 4:00 PM/);
  });

  it('both views list the same open items, marks and boxes, in the order of the steps, with their number (§11.8/left)', async () => {
    const { setupUrl } = await connectNumber(service, team);
    for (const agent of [undefined, computer]) {
      const page = await openSetupPage({ setupUrl, ...(agent && { agent }) });
      assert.deepEqual(leftThings(page), leftAtFirst);
      assert.match(page.html, /Not finished yet: 16 left/);
      const goOn = /href="#content-1">Go on with step 1</;
      assert.equal(goOn.test(page.html), agent === undefined, 'on the iPhone');
    }
    await tick(setupUrl, all);
    assert.deepEqual(leftThings(await openSetupPage({ setupUrl })), [
      'This iPhone reaches Ownline',
      'iPhone sends texts',
      'Replies of one word come in',
      'Replies of several words come in',
      'Still sending while locked',
    ]);
  });

  it('the page after Done explains the open items, and a browser without JavaScript sends its ticks with the form (§11.8/closed)', async () => {
    const { setupUrl, wire } = await connectNumber(service, team);
    for (const text of ['7 pm', 'Seen', 'No', 'Thanks', 'Hi'])
      await wire.call('inbound', { from: friend, text });
    const partly = await connectNumber(service, team);
    for (const text of ['Seen', 'No']) await partly.wire.call('inbound', { from: friend, text });
    const halfway = await tick(partly.setupUrl, [], '/done');
    assert.match(halfway.html, /Message Contains a single space, [^<]* Then text 7 pm/);
    assert.match(halfway.html, /Message Contains a, i, [^<]*one for each letter\. Then text Thanks and Hi/);
    const { html } = await tick(
      setupUrl,
      all.filter((name) => name !== 'charger'),
      '/done',
    );
    assert.match(
      html,
      /Automation of the charger starts Ownline Outbox\.<\/b> In Shortcuts: Automation, \+, Charger/,
    );
    assert.doesNotMatch(html, /may run while locked/, 'it was ticked');
    assert.match(html, /iPhone sends texts\.<\/b> Have a text sent to your second phone/);
    assert.match(html, /Checked<[\s\S]*Replies of one word come in/);
    const stopped = await connectNumber(service, team);
    await tick(stopped.setupUrl, ['charger']);
    const onComputer = await openSetupPage({
      setupUrl: stopped.setupUrl,
      path: '/done',
      agent: computer,
      form: {},
    });
    assert.doesNotMatch(
      onComputer.html,
      /Automation of the charger/,
      'the computer has no squares of its own',
    );
    assert.match(onComputer.html, /Automation at 8:00 AM starts/);
  });

  it('each letter that contacts are asked to reply with adds a mark, which that reply makes green, and “none” adds no mark (§11.8/asked)', async () => {
    const { setupUrl, wire } = await connectNumber(service, team);
    const question = 'Answer the question about Y, C, 1 or 2';
    const ofReplies = async () =>
      leftThings(await openSetupPage({ setupUrl })).filter((title) => /question|The reply/.test(title));
    assert.deepEqual(await ofReplies(), [question]);
    await tick(setupUrl, ['asked-none']);
    assert.deepEqual(await ofReplies(), []);
    const both = await tick(setupUrl, ['asked-none', 'asked-c', 'asked-1']);
    assert.deepEqual(ticked(both.html), ['asked-c', 'asked-1'], 'a letter excludes none');
    assert.deepEqual(await ofReplies(), ['The reply C comes in', 'The reply 1 comes in']);
    await wire.call('inbound', { from: friend, text: 'c' });
    assert.deepEqual(await ofReplies(), ['The reply 1 comes in']);
    const onComputer = await openSetupPage({ setupUrl, agent: computer });
    assert.deepEqual([onComputer.marks.answer_c, onComputer.marks.answer_1], ['done', 'open']);
    const { html } = await tick(setupUrl, ['asked-1'], '/done');
    assert.match(html, /The reply 1 comes in\.<\/b> In Shortcuts: [^<]*Message Contains 1,/);
  });

  it('the step of replies is green only once its question is answered too (§11.8/asked)', async () => {
    const { setupUrl, wire } = await connectNumber(service, team);
    for (const text of ['7 pm', 'Seen', 'No', 'Thanks', 'Hi'])
      await wire.call('inbound', { from: friend, text });
    const isDone = ({ html }: { readonly html: string }) => html.includes('>4, done<');
    assert.ok(!isDone(await openSetupPage({ setupUrl })));
    assert.ok(!isDone(await tick(setupUrl, ['asked-c'])), 'C has not come in');
    assert.ok(isDone(await tick(setupUrl, ['asked-none'])));
  });

  it('permissions for a locked iPhone come before the first run (§11.8/permissions-first)', async () => {
    const { html } = await openSetupPage({ setupUrl: (await connectNumber(service, team)).setupUrl });
    const positions = ['Allow Running When Locked', 'Run Ownline Outbox', 'id="to"'].map((text) =>
      html.indexOf(text),
    );
    assert.ok(positions.every((position) => position > 0));
    assert.deepEqual(
      positions,
      positions.toSorted((one, other) => one - other),
    );
  });

  it('the mark of texts with several words needs a text that only the automation for a single space catches (§11.8/marks)', async () => {
    const { setupUrl, wire } = await connectNumber(service, team);
    const receive = async (text: string) => {
      await wire.call('inbound', { from: friend, text });
      const { marks } = await openSetupPage({ setupUrl });
      return [marks.inbound, marks.one_word];
    };
    assert.deepEqual(await receive('See you soon'), ['busy', 'open'], 'its letters may have caught it');
    for (const text of ['Seen', 'No', 'Thanks']) await receive(text);
    assert.deepEqual(await receive('Hi'), ['busy', 'done']);
    assert.deepEqual(await receive('7 pm'), ['done', 'done']);
  });
});
