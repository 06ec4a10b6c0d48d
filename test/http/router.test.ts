import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { ClientErrorResponder } from '#server/http/client-error.ts';
import { PathIndex } from '#server/http/path-index.ts';
import { assertEnvelope } from '#test/support/http/assert-answer.ts';
import { rawExchange, rawRequest } from '#test/support/http/raw-http.ts';
import { field } from '#test/support/service/api-client.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { freePort } from '#test/support/service/test-service.ts';

const json = 'application/json; charset=utf-8';

describe('requests that match no operation or are not valid HTTP (specification section 7)', () => {
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

  it('an unknown address is 404 in the envelope (§7.1/envelope, §7.2/request-id)', async () => {
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
    const withoutKey = 'GET /v1/nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    assertEnvelope(await rawRequest(service.baseUrl, withoutKey), 404, 'not_found');
  });

  it('a path of more than 4,096 characters is 404, even if it begins like a known route (§8/json-bounds)', async () => {
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

  it('a known path with another method is 405 with the allowed methods, even where its last segment could be an id (§7.1/http-statuses, §7.2/head-and-405)', async () => {
    const table: [string, string, string][] = [
      ['POST', '/v1/numbers', 'GET, HEAD'],
      ['PUT', '/v1/messages/send', 'POST'],
      ['PATCH', '/v1/numbers/num_01h2xcejqtf2nbrexx3vqjhp41', 'DELETE, GET, HEAD, PUT'],
      ['OPTIONS', '/v1/numbers', 'GET, HEAD'],
      ['POST', 'http://somebody.example:1/v1/numbers?x=1', 'GET, HEAD'],
      ['POST', '/v1/num%62ers', 'GET, HEAD'],
      ['PATCH', '/v1/numbers/num%5F%2F', 'DELETE, GET, HEAD, PUT'],
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
    // The largest static file takes 2 s to compress. test/http/api-reference.test.ts compares its two answers.
    const served = service.app.routes.filter(
      ({ method, path }) => method === 'GET' && path !== '/docs/js/scalar.js',
    );
    assert.ok(served.length > 30);
    for (const { path: pattern } of served) {
      const path = pattern.replaceAll(/:\w+/g, 'none');
      const [head, get] = [await ask(`HEAD ${path} HTTP/1.1`), await ask(`GET ${path} HTTP/1.1`)];
      assert.deepEqual([head.status, head.body], [get.status, ''], path);
      assert.deepEqual([...head.headers.keys()].sort(), [...get.headers.keys()].sort(), path);
    }
  });

  it('the time for a 404 does not grow with the length of the address (section 7.2)', () => {
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

  it('invalid HTTP is answered in the envelope, and the connection is closed (§7.2/request-id)', async () => {
    const get = (...headers: readonly string[]) =>
      ['GET /v1/numbers HTTP/1.1', ...headers, '', ''].join('\r\n');
    const post = (body: string, ...headers: readonly string[]) =>
      [
        'POST /v1/numbers/verify HTTP/1.1',
        'Host: a',
        `x-api-key: ${team.api.key}`,
        ...headers,
        '',
        body,
      ].join('\r\n');
    const chunked = 'Transfer-Encoding: chunked';
    const tls = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03];
    const unreadable: [string, number, string | Uint8Array][] = [
      ['no HTTP at all', 400, 'hello\r\n\r\n'],
      ['TLS to the plain port', 400, Uint8Array.from(tls)],
      ['HTTP/2 preface', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['unknown method', 400, get('Host: a').replace('GET', 'FETCH')],
      ['space in the address', 400, get('Host: a').replace('numbers', 'num bers')],
      ['header without a colon', 400, get('Host: a', 'broken')],
      ['NUL in a header', 400, get('Host: a', 'x: a\u0000b')],
      ['two lengths', 400, post('{}', 'Content-Length: 2', 'Content-Length: 3')],
      ['length and chunks', 400, post('0\r\n\r\n', 'Content-Length: 2', chunked)],
      ['a chunk without a size', 400, post('zz\r\n', chunked)],
      ['chunked twice', 400, post('0\r\n\r\n', chunked, chunked)],
      ['no Host', 400, get('Connection: close', `x-api-key: ${team.api.key}`)],
      ['headers of 20 KB', 431, get('Host: a', `x: ${'a'.repeat(20_000)}`)],
      ['an address of 20 KB', 431, get('Host: a').replace('numbers', 'a'.repeat(20_000))],
      ['an expectation', 417, post('', 'Expect: a-miracle', 'Content-Length: 0')],
      ['CONNECT', 405, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'],
    ];
    for (const [what, status, bytes] of unreadable) {
      const answer = await rawRequest(service.baseUrl, bytes);
      assert.equal(answer.status, status, `${what}: ${answer.body}`);
      assertEnvelope(answer, status);
    }
  });

  it('a request that two servers may read in two ways is refused, and its connection is closed', async () => {
    const chunks = '2\r\n{}\r\n0\r\n\r\n';
    const post = (version: string, ...headers: readonly string[]) =>
      [`POST /v1/numbers/verify HTTP/${version}`, ...headers, `x-api-key: ${team.api.key}`, '', chunks].join(
        '\r\n',
      );
    const ambiguous: [string, string, string][] = [
      ['two Hosts', post('1.1', 'Host: a', 'Host: b', 'Transfer-Encoding: chunked'), 'Host'],
      ['the same Host twice', post('1.1', 'Host: a', 'hOsT: a', 'Transfer-Encoding: chunked'), 'Host'],
      ['chunks in HTTP/1.0', post('1.0', 'Host: a', 'Transfer-Encoding: chunked'), 'Transfer-Encoding'],
      ['chunks in HTTP/1.0 without Host', post('1.0', 'Transfer-Encoding: chunked'), 'Transfer-Encoding'],
      ['an unknown coding', post('1.1', 'Host: a', 'Transfer-Encoding: x, chunked'), 'Transfer-Encoding'],
      ['gzip', post('1.1', 'Host: a', 'Transfer-Encoding: gzip, chunked'), 'Transfer-Encoding'],
    ];
    for (const [what, bytes, param] of ambiguous) {
      const answer = await rawRequest(service.baseUrl, bytes);
      const body = assertEnvelope(answer, 400);
      assert.equal(field(body, 'error.param'), param, what);
      assert.equal(answer.headers.get('connection'), 'close', what);
    }
    const right = post(
      '1.1',
      'Host: a',
      'Transfer-Encoding: Chunked',
      'Content-Type: application/json',
      'Connection: close',
    );
    assert.match((await rawRequest(service.baseUrl, right)).body, /phone_number is required/);
  });

  it('a request of the device protocol without Host is refused in that protocol’s format, with the usual headers', async () => {
    const call = 'POST /v1/device/poll HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}';
    const { status, headers } = await rawRequest(service.baseUrl, call);
    assert.equal(status, 200);
    assert.match(headers.get('request-id') ?? '', /^req_/);
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  it('complete requests are answered before the invalid one that follows them on the connection', async () => {
    const message = `GET /v1/team HTTP/1.1\r\nHost: a\r\nx-api-key: ${team.api.key}\r\n\r\n`;
    const answers = await rawExchange(service.baseUrl, `${message.repeat(3)}hello\r\n\r\n`);
    assertEach(answers, ({ status }) => status, [200, 200, 200, 400]);
    const tunnel = await rawExchange(service.baseUrl, `${message}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
    assertEach(tunnel, ({ status }) => status, [200, 405]);
  });

  it('a request that was refused, and whose body then turns out invalid, is answered only once', async () => {
    const head = 'POST /v1/numbers/verify HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answers = await rawExchange(service.baseUrl, head, { later: 'zz\r\n' });
    assertEach(answers, ({ status }) => status, [401]);
  });

  it('an incomplete request is answered 408 in the envelope', async () => {
    // Emits Node's time-out error, to test the server's answer without waiting for a time-out.
    const server = createServer((socket) => {
      const tooSlow = Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      new ClientErrorResponder(() => service.runtime.ids.nextPublic('req')).onClientError(tooSlow, socket);
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    assertEnvelope(await rawRequest(`http://127.0.0.1:${port}`, 'POST /v1/numbers/verify HTTP/1.1\r\n'), 408);
    await new Promise((resolve) => server.close(resolve));
  });

  it('without METRICS_TOKEN /metrics is 404 with the name of that setting, even for an empty token (section 10.4)', async () => {
    for (const headers of [{}, { authorization: 'Bearer ' }, { authorization: 'Bearer undefined' }]) {
      const response = await fetch(`${service.baseUrl}/metrics`, { headers });
      assert.equal(response.status, 404);
      assert.match(await response.text(), /Set METRICS_TOKEN/);
    }
  });
});
