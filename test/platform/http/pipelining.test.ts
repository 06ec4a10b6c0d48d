import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pipelinedRequestsMax } from '#server/http/limits.ts';
import { createBareServer } from '#test/support/http/bare-http-server.ts';
import { rawExchange } from '#test/support/http/raw-http.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

describe('pipelined requests', () => {
  let running = 0;
  let most = 0;
  let served: string[] = [];
  const server = createBareServer([
    {
      method: 'GET',
      path: '/numbered/:id',
      audience: 'page',
      answers: {},
      handle: async ({ params: { id = '' } }) => {
        running += 1;
        most = Math.max(most, running);
        served.push(id);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return { body: id };
      },
    },
  ]);
  let address: string;

  before(async () => {
    address = await server.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => server.close());

  const pipeline = (count: number) => {
    const ids = Array.from({ length: count }, (_, n) => String(n));
    const requests = ids.map((id) => {
      const connection = Number(id) === count - 1 ? 'close' : 'keep-alive';
      return `GET /numbered/${id} HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;
    });
    return { ids, bytes: requests.join('') };
  };

  it('pipelined requests of a connection are served one after the other, in their order', async () => {
    const { ids, bytes } = pipeline(pipelinedRequestsMax);
    const answers = await rawExchange(address, bytes);
    assertEach(answers, ({ body }) => body, ids);
    assert.deepEqual(served, ids);
    assert.equal(most, 1);
  });

  it('a connection with too many pipelined requests is ended', async () => {
    served = [];
    await assert.rejects(rawExchange(address, pipeline(1_000).bytes));
    assert.ok(served.length <= 1, `${served.length} were served`);
  });
});
