import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { claim } from '#test/support/phones/test-phone.ts';
import { spawnFirstService } from '#test/support/processes/given-spawned-service.ts';
import { PageBlocks, printedShape } from '#test/support/processes/page-blocks.ts';
import { runScript } from '#test/support/processes/run-script.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { given } from '#test/support/service/given.ts';
import { freePort } from '#test/support/service/test-service.ts';
import { until } from '#test/support/service/until.ts';

describe('the examples of docs/receive-events.md (specification sections 4.4, 4.5 and 6.3)', () => {
  const page = given(() => PageBlocks.read('docs/receive-events.md'));
  const service = given(() => {
    const [setting = '', value = ''] =
      /(\w+)=(\S+) npm start/.exec(page.all('sh').join('\n'))?.slice(1) ?? [];
    return spawnFirstService({ [setting]: value });
  });
  const api = given(async () => new ApiClient(service.baseUrl, await firstKey(service.dataDir)));
  let port: number;

  before(async () => {
    port = await freePort();
    const { json } = await api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    const phone = await claim(api, String(json.setup_url));
    await phone.poll();
    for (const text of ['Yes, see you then', 'Can I come at 11?'])
      await phone.call('inbound', { from: '+14155550101', text });
    await until('both texts are in the feed', async () => {
      const { json: feed } = await api.get('/v1/events');
      return Array.isArray(feed.events) && feed.events.length === 2;
    });
  });

  /**
   * The commands of a code block of docs/receive-events.md, with the port of this run and these values in place of
   * the page's.
   */
  function commandsOf(block: string, values: Readonly<Record<string, string>> = {}): string {
    let text = block.replaceAll('4000', String(port));
    for (const [word, value] of Object.entries(values)) {
      assert.ok(text.includes(word), `${word} is in the block`);
      text = text.replaceAll(word, value);
    }
    return `set -eu\nexport DATA_DIR=${service.dataDir}\nOWNLINE=${service.baseUrl}\nKEY=${api.key}\n${text}`;
  }
  const run = (block: string, values?: Readonly<Record<string, string>>) =>
    runScript(commandsOf(block, values));

  it('the feed requests of docs/receive-events.md get the printed answer, and continue after its cursor', async () => {
    const [first, next = ''] = page.all('sh feed');
    const answer = await run(first);
    assert.equal(printedShape(answer), printedShape(page.one('json feed')));
    const { cursor } = JSON.parse(answer) as { readonly cursor: string };
    const following = await run(next, { evt_your_cursor: cursor });
    assert.match(following, /"content":"Can I come at 11\?"/);
    assert.doesNotMatch(following, /Yes, see you then/);
  });

  it('the webhook of docs/receive-events.md is created, and the listener prints a test event with valid signatures', async () => {
    const answer = await run(page.one('sh webhook'));
    const { id, secret } = JSON.parse(answer) as { readonly id: string; readonly secret: string };
    const listener = commandsOf(page.one('sh listener'), { whsec_your_secret: secret }).replace(
      'npm run',
      'exec npm run',
    );
    const script = `${listener.trim()} --count 1 &\nLISTENER=$!\nread -r _\n${page.one('sh test')}\nwait $LISTENER`;
    const output = await runScript(script.replaceAll('wh_your_webhook', id), /^listening at/m);
    assert.match(output, /received +message\.received evt_/);
    assert.match(output, /x-service-signature valid, webhook-signature valid, a test, answered 200/);
    assert.match(
      await run(page.one('sh replay'), { wh_your_webhook: id }),
      /"active":true[\s\S]*\{"queued":0\}/,
    );
  });
});
