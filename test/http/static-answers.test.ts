import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeptConnections } from '#test/support/http/raw-http.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

const paths = ['/v1/openapi.json', '/docs', '/docs/js/scalar.js'];

describe('static content (specification section 7.2)', () => {
  const service = givenService();
  const connections = given(() => new KeptConnections(service.baseUrl, 8));

  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    connections.ask({ method, path, headers: { 'accept-encoding': 'gzip', ...headers } });

  it('static content is compressed, has a strong ETag, and is 304 for a client that has it (§7.2/static-content)', async () => {
    for (const path of paths) {
      const { status, headers } = await get(path);
      assert.equal(status, 200, path);
      // The page of the reference is smaller than 1 KiB, so it is not compressed.
      assert.equal(headers.get('content-encoding'), path === '/docs' ? undefined : 'gzip', path);
      assert.equal(headers.get('vary'), 'accept-encoding', path);
      assert.doesNotMatch(headers.get('cache-control') ?? '', /no-store/, path);
      const etag = headers.get('etag') ?? '';
      assert.match(etag, /^"[\w-]{43}"$/, path);
      const again = await get(path, { 'if-none-match': etag });
      assert.deepEqual([again.status, again.body, again.headers.get('etag')], [304, '', etag], path);
      assert.match(again.headers.get('request-id') ?? '', /^req_/);
    }
  });

  it('HEAD of static content has the headers of GET (§7.2/head-and-405)', async () => {
    for (const path of paths) {
      const [head, full] = [await get(path, {}, 'HEAD'), await get(path)];
      assert.deepEqual([head.status, head.body], [200, ''], path);
      for (const name of ['content-length', 'content-encoding', 'etag', 'content-type']) {
        assert.equal(head.headers.get(name), full.headers.get(name), `${name} of ${path}`);
      }
    }
  });
});
