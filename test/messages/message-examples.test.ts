import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { resolveOverdue } from '#server/messages/sweep-messages.ts';
import { type ConnectedNumber, connectNumber } from '#test/support/phones/test-phone.ts';
import { PageBlocks, printedShape } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { given, givenFolder } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const contact = '+14155550101';
const replies = ['Yes', 'see you then', 'Can I come at 11?'];

describe('the examples of docs/messages.md (specification section 4.3)', () => {
  // No sweep runs in the background: the test resolves the overdue message.
  const { service, team } = givenTeam({ ROLES: 'api' });
  const page = given(() => PageBlocks.read('docs/messages.md'));
  const folder = givenFolder();
  let number: ConnectedNumber;

  before(async () => {
    number = await connectNumber(service, team, '+14155550100');
    for (const text of replies) await number.wire.call('inbound', { from: contact, text });
  });

  /** Runs a block of the page, with these words in place of its own. @returns the lines of the output */
  async function run(block: string, values: Readonly<Record<string, string>> = {}): Promise<string[]> {
    let text = block;
    for (const [word, value] of Object.entries(values)) {
      assert.ok(text.includes(word), `${word} is in the block`);
      text = text.replaceAll(word, value);
    }
    const setup = `set -eu\nexport OWNLINE=${service.baseUrl} KEY=${team.api.key}\n`;
    return (await runScript(setup + text.replaceAll('\ncurl', '\necho\ncurl'))).trim().split('\n');
  }

  it('repeating the send of docs/messages.md gets the same message again, and the iPhone gets it once (§4.3/idempotency-key)', async () => {
    const send = page.one('sh send');
    const [answer = '', repeated] = await run(send + send);
    assert.equal(answer, repeated);
    const { id } = JSON.parse(answer) as { readonly id: string };
    assert.equal((await number.wire.poll()).id, id);
    assert.equal((await number.wire.poll({ last: id })).action, 'idle');
  });

  it('the requests for pages in docs/messages.md get one page after the other (§4.3/pages)', async () => {
    const [first = '', second] = page.one('sh page').trim().split('\n');
    const small = { 'limit=50': 'limit=1' };
    const [newest = ''] = await run(first, small);
    const { messages, cursor } = JSON.parse(newest) as { messages: { content: string }[]; cursor: string };
    assert.deepEqual([messages[0]?.content], replies.slice(-1));
    const [next = ''] = await run(second ?? '', { ...small, msg_your_cursor: cursor });
    assert.match(next, /"content":"see you then".*"has_more":true/);
  });

  it('the program of docs/messages.md lists every message once (§4.3/pages)', async () => {
    const file = join(folder, 'pages.mjs');
    await writeFile(file, page.one('js pages.mjs').replace("limit: '50'", "limit: '1'"));
    const lines = await run(`${process.execPath} ${file}`);
    assertEach(lines, (line) => line.replace(/^msg_\w{26} /, ''), replies.toReversed());
  });

  it('a message with device_timeout is shown as in docs/messages.md, and a late report makes it sent (§3.2/device-timeout, §3.2/late-reports)', async () => {
    const content = 'Your appointment is on Tuesday at 10. Is that fine?';
    const id = await team.api.send({ from: number.phoneNumber, to: contact, content });
    assert.equal((await number.wire.poll()).id, id);
    service.clock.advance(600_000);
    await resolveOverdue(service.runtime);
    const { text } = await team.api.get(`/v1/messages/${id}`);
    assert.equal(printedShape(text), printedShape(page.one('json device_timeout')));
    await number.wire.poll({ last: id });
    const late = (await team.api.get(`/v1/messages/${id}`)).json;
    assert.deepEqual([late.status, late.may_have_been_sent], ['sent', false]);
  });

  it('the setting in docs/messages.md lets a number try an unconfirmed message once more', async () => {
    await run(page.one('sh retry'), { num_your_number: number.numberId });
    const { json } = await team.api.get(`/v1/numbers/${number.numberId}`);
    assert.equal(json.on_unconfirmed, 'retry_once');
  });
});
