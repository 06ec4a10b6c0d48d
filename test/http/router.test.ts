import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { PathIndex } from '#server/platform/http/path-index.ts';
import { assertEnvelope } from '#test/support/http/assert-envelope.ts';
import { rawRequest } from '#test/support/http/raw-http.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const json = 'application/json; charset=utf-8';

describe('requests that match no operation (specification section 7)', () => {
  const { service, team } = givenTeam();

  /** Sends the request line and headers as written, with a Host, an API key and `connection: close`. */
  const ask = (requestLine: string, headers: readonly string[] = [], body = '') =>
    rawRequest(
      service.baseUrl,
      [
        requestLine,
        'Host: localhost',
        `x-api-key: ${team.api.key}`,
        'Connection: close',
        ...headers,
        '',
        body,
      ].join('\r\n'),
    );

  it('an unknown address is 404 in the envelope (§7.1/envelope, §7.1/status-404, §7.2/request-id)', async () => {
    const paths = [
      '/v1',
      '/v1/',
      '/v2/numbers',
      '/v1/numbers/',
      '/v1/Numbers',
      '//v1/numbers',
      '/v1/nothing?x=1',
    ];
    for (const path of paths) {
      assertEnvelope(await ask(`GET ${path} HTTP/1.1`), 404, 'not_found');
    }
    for (const method of ['OPTIONS', 'GET', 'POST']) {
      assertEnvelope(await ask(`${method} * HTTP/1.1`), 404, 'not_found');
    }
  });

  it('a path of more than 4,096 characters is 404, whatever route it begins with (§8/json-bounds)', async () => {
    const query = `?${'a'.repeat(2_000)}`;
    for (const [characters, search, message] of [
      [4_096, '', /^No such message/],
      [4_097, '', /^There is nothing at this address/],
      [4_097, query, /^There is nothing at this address/],
    ] as const) {
      const path = '/v1/messages/'.padEnd(characters, 'a') + search;
      const body = assertEnvelope(await ask(`GET ${path} HTTP/1.1`), 404, 'not_found');
      assert.match(String(field(body, 'error.message')), message);
    }
    const browser = ['Accept: text/html'];
    for (const beginning of [
      '/v1/',
      '/app/',
      '/%761/',
      'http://example.com/v1/',
      'http://example.com/app/',
    ]) {
      const path = beginning.padEnd(4_200, 'a');
      assertEnvelope(await ask(`GET ${path} HTTP/1.1`, browser), 404, 'not_found');
      assertEnvelope(await ask(`POST ${path} HTTP/1.1`, browser), 404, 'not_found');
    }
    for (const beginning of ['/', '/nothing/', '/v1', '/application/', 'http://example.com/v10/']) {
      const page = await ask(`GET ${beginning.padEnd(4_200, 'a')} HTTP/1.1`, browser);
      assert.equal(page.status, 404, beginning);
      assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', beginning);
      assert.match(page.body, /<h1>This did not work<\/h1>/, beginning);
    }
  });

  it('an unknown address without a key is 404', async () => {
    const answer = await rawRequest(
      service.baseUrl,
      'GET /v1/nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    assertEnvelope(answer, 404, 'not_found');
  });

  it('a 404 is a page for browsers and JSON in the envelope for programs (§7.1/envelope)', async () => {
    const browser = ['Accept: text/html,application/xhtml+xml,*/*;q=0.8'];
    for (const path of ['/nothing', '/v1.html', '/application', '/setup', '/%zz', '//v1/numbers']) {
      const page = await ask(`GET ${path} HTTP/1.1`, browser);
      assert.equal(page.status, path === '/%zz' ? 400 : 404, path);
      assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', path);
      assert.match(page.headers.get('content-security-policy') ?? '', /style-src 'sha256-/, path);
      assert.match(page.body, /<h1>This did not work<\/h1>.*<a href="\/">Go to the start<\/a>/s, path);
      assert.equal(
        (await ask(`GET ${path} HTTP/1.1`, ['Accept: */*'])).headers.get('content-type'),
        json,
        path,
      );
    }
    const form = await ask('POST /docs HTTP/1.1', browser);
    assert.deepEqual([form.status, form.headers.get('allow')], [405, 'GET, HEAD']);
    assert.match(form.body, /<h1>This did not work/);
    for (const path of [
      '/v1',
      '/v1/nothing',
      '/app',
      '/app/nothing',
      '/v1/device/nothing',
      '/%761/nothing',
    ]) {
      assertEnvelope(await ask(`GET ${path} HTTP/1.1`, browser), 404, 'not_found');
    }
  });

  it('a known path with another method is 405 with the allowed methods (§7.1/status-400, §7.1/http-statuses)', async () => {
    const table: [string, string, string][] = [
      ['POST', '/v1/numbers', 'GET, HEAD'],
      ['PUT', '/v1/messages/send', 'POST'],
      ['PATCH', '/v1/numbers/num_01h2xcejqtf2nbrexx3vqjhp41', 'DELETE, GET, HEAD, PUT'],
      ['OPTIONS', '/v1/numbers', 'GET, HEAD'],
      ['POST', 'http://somebody.example:1/v1/numbers?x=1', 'GET, HEAD'],
      ['POST', '/v1/num%62ers', 'GET, HEAD'],
      ['PATCH', '/v1/numbers/num%5F%2F', 'DELETE, GET, HEAD, PUT'],
    ];
    for (const [method, path, allow] of table) {
      const answer = await ask(`${method} ${path} HTTP/1.1`);
      assertEnvelope(answer, 405);
      assert.equal(answer.headers.get('allow'), allow);
    }
  });

  it('the path of an operation with another method is 405, even where its last segment could be an id (§7.2/head-and-405)', async () => {
    const table: [string, string, string][] = [
      ['GET', '/v1/messages/send', 'POST'],
      ['GET', '/v1/messages/%73end', 'POST'],
      ['DELETE', '/v1/team/members/invite', 'POST'],
      ['PUT', '/v1/numbers/verify', 'POST'],
      ['GET', '/app/teams/team_01h2xcejqtf2nbrexx3vqjhp41/messages/send', 'POST'],
    ];
    for (const [method, path, allow] of table) {
      const answer = await ask(`${method} ${path} HTTP/1.1`);
      assertEnvelope(answer, 405);
      assert.equal(answer.headers.get('allow'), allow, path);
    }
    const head = await ask('HEAD /v1/messages/send HTTP/1.1');
    assert.deepEqual([head.status, head.body], [405, '']);
  });

  it('HEAD is answered like GET without the body, wherever GET is answered (§7.2/head-and-405)', async () => {
    const served = service.app.routes.filter(({ method }) => method === 'GET');
    assert.ok(served.length > 30);
    for (const { path: pattern } of served) {
      const path = pattern.replaceAll(/:\w+/g, 'none');
      const [head, get] = [await ask(`HEAD ${path} HTTP/1.1`), await ask(`GET ${path} HTTP/1.1`)];
      assert.deepEqual([head.status, head.body], [get.status, ''], path);
      assert.deepEqual([...head.headers.keys()].sort(), [...get.headers.keys()].sort(), path);
    }
  });

  it('the cost of a 404 does not grow with the length of the address (section 7.2)', () => {
    const paths = new PathIndex(service.app.routes);
    const msFor = (url: string) => {
      const request = { url, method: 'GET', headers: {}, routeOptions: {} } as FastifyRequest;
      const begun = performance.now();
      for (let n = 0; n < 300; n += 1) assert.equal(paths.refusal(request).status, 404);
      return performance.now() - begun;
    };
    // The fastest of five runs counts, as another process may slow down any of them.
    const fastest = (url: string) => Math.min(...Array.from({ length: 5 }, () => msFor(url)));
    const [short, long] = [fastest('/a/a'), fastest(`/${'a/'.repeat(7_400)}`)];
    assert.ok(long < short * 30, `${long} ms against ${short} ms`);
  });

  it('the allowed methods of a 405 never include the method of the request', async () => {
    for (const path of ['/v1/messages/', '/v1/numbers//reconnect', `/v1/messages/${'a'.repeat(10_000)}`]) {
      const answer = await ask(`${path.includes('reconnect') ? 'POST' : 'GET'} ${path} HTTP/1.1`);
      assertEnvelope(answer, 404, 'not_found');
    }
  });

  it('every HTTP method that Node can parse is answered in the envelope (§7.1/envelope)', async () => {
    for (const method of METHODS.filter((name) => !['GET', 'HEAD', 'CONNECT'].includes(name))) {
      assertEnvelope(await ask(`${method} /v1/numbers HTTP/1.1`, ['Content-Type: application/json']), 405);
      assertEnvelope(
        await ask(`${method} /nothing HTTP/1.1`, ['Content-Type: application/json']),
        404,
        'not_found',
      );
    }
  });

  it('no answer has CORS headers, so that no page of another origin reads it (§7.2/no-cors)', async () => {
    const origin = ['Origin: https://example.com', 'Access-Control-Request-Method: GET'];
    for (const requestLine of [
      'OPTIONS /v1/numbers HTTP/1.1',
      'GET /v1/numbers HTTP/1.1',
      'GET / HTTP/1.1',
    ]) {
      const answer = await ask(requestLine, origin);
      const names = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'));
      assert.deepEqual(names, [], requestLine);
    }
  });

  it('broken percent-encoding is refused in the envelope', async () => {
    for (const path of ['/v1/messages/%', '/v1/messages/%zz', '/v1/messages/%C3%28', '/%E0%A4%A']) {
      assertEnvelope(await ask(`GET ${path} HTTP/1.1`), 400);
    }
  });

  it('a malformed id is 404, and never 500 (§2.1/id-format)', async () => {
    const ids = [
      '%00',
      '%F0%9F%98%80',
      "'%20OR%201=1--",
      'msg_8zzzzzzzzzzzzzzzzzzzzzzzzz',
      'msg_01H2XCEJQTF2NBREXX3VQJHP41',
      'num_01h2xcejqtf2nbrexx3vqjhp41',
      'msg_01h2xcejqtf2nbrexx3vqjhp4',
      '01h2xcejqtf2nbrexx3vqjhp41',
      '018a2ac7-4bb7-7bc0-ab8d-0b7c3d7b5881',
      'a'.repeat(12_000),
    ];
    for (const id of ids) {
      assertEnvelope(await ask(`GET /v1/messages/${id} HTTP/1.1`), 404, 'not_found');
      assertEnvelope(await ask(`DELETE /v1/numbers/${id} HTTP/1.1`), 404, 'not_found');
    }
  });

  it('unknown query parameters are refused by name (§2.1/unknown-fields)', async () => {
    const operations: [string, string][] = [
      ['GET', '/v1/numbers?label=x'],
      ['GET', '/v1/messages/msg_01h2xcejqtf2nbrexx3vqjhp41?label=x'],
      ['PUT', '/v1/numbers/num_01h2xcejqtf2nbrexx3vqjhp41?label=x&label=y'],
      ['DELETE', '/v1/numbers/num_01h2xcejqtf2nbrexx3vqjhp41?label'],
      ['POST', '/v1/numbers/verify?label='],
    ];
    for (const [method, path] of operations) {
      const json = assertEnvelope(await ask(`${method} ${path} HTTP/1.1`), 400);
      assert.equal(field(json, 'error.param'), 'label');
    }
  });

  it('query parameters that are named like a property of every object are refused', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      for (const path of ['/v1/numbers', '/v1/messages']) {
        const json = assertEnvelope(await ask(`GET ${path}?${name}=1 HTTP/1.1`), 400);
        assert.equal(field(json, 'error.param'), name);
      }
    }
  });
});
