import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { ClientErrorResponder } from '#server/platform/http/client-error.ts';
import { PathIndex } from '#server/platform/http/path-index.ts';
import { field } from '#test/support/service/api-client.ts';
import { type RawAnswer, rawExchange, rawRequest } from '#test/support/service/raw-http.ts';
import {
  freePort,
  startTestService,
  type TestService,
  type TestTeam,
} from '#test/support/service/test-service.ts';

const json = 'application/json; charset=utf-8';

/** Every refusal has this shape, whoever makes it (specification section 7.1). */
function assertEnvelope(answer: RawAnswer, status: number, code = 'invalid_request'): unknown {
  assert.equal(answer.status, status, answer.body);
  assert.equal(answer.headers.get('content-type'), json);
  assert.match(answer.headers.get('request-id') ?? '', /^req_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const body: unknown = JSON.parse(answer.body);
  assert.deepEqual(Object.keys(body as object), ['error']);
  assert.equal(field(body, 'error.code'), code);
  assert.ok(String(field(body, 'error.message')).length > 10);
  return body;
}

describe('what meets no operation (specification section 7)', () => {
  let service: TestService;
  let team: TestTeam;

  before(async () => {
    service = await startTestService();
    team = await service.newTeam();
  });
  after(() => service.close());

  /** A request line and headers as written; Host, key and `connection: close` are added. */
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

  it('answers 404 in the envelope for an address that is none (§7.1/envelope, §7.1/status-404, §7.2/request-id)', async () => {
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

  it('answers 404 for a path of more than 4,096 characters, whatever route it begins with (§8/json-bounds)', async () => {
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

  it('answers 404 for an address that is none without asking for a key', async () => {
    const answer = await rawRequest(
      service.baseUrl,
      'GET /v1/nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    assertEnvelope(answer, 404, 'not_found');
  });

  it('shows who opens an address that is none with a browser a page, and programs the envelope (§7.1/envelope)', async () => {
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
    const form = await ask('POST /billing HTTP/1.1', browser);
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

  it('answers 405 with what is allowed where only the method is wrong (§7.1/status-400, §7.1/http-statuses)', async () => {
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

  it('answers 405 where an operation is named that takes another method, and not 404 as for an id (§7.2/head-and-405)', async () => {
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

  it('answers HEAD like GET, without the body, wherever GET is answered (§7.2/head-and-405)', async () => {
    const served = service.app.routes.filter(({ method }) => method === 'GET');
    assert.ok(served.length > 30);
    for (const { path: pattern } of served) {
      const path = pattern.replaceAll(/:\w+/g, 'none');
      const [head, get] = [await ask(`HEAD ${path} HTTP/1.1`), await ask(`GET ${path} HTTP/1.1`)];
      assert.deepEqual([head.status, head.body], [get.status, ''], path);
      assert.deepEqual([...head.headers.keys()].sort(), [...get.headers.keys()].sort(), path);
    }
  });

  it('finds an address without a route at a cost that does not grow with its length (section 7.2)', () => {
    const paths = new PathIndex(service.app.routes);
    const msFor = (url: string) => {
      const request = { url, method: 'GET', headers: {}, routeOptions: {} } as FastifyRequest;
      const begun = performance.now();
      for (let n = 0; n < 300; n += 1) assert.equal(paths.refusal(request).status, 404);
      return performance.now() - begun;
    };
    msFor('/a/a');
    const [short, long] = [msFor('/a/a'), msFor(`/${'a/'.repeat(7_400)}`)];
    assert.ok(long < short * 30, `${long} ms against ${short} ms`);
  });

  it('never says that an address takes the method that was used', async () => {
    for (const path of ['/v1/messages/', '/v1/numbers//reconnect', `/v1/messages/${'a'.repeat(10_000)}`]) {
      const answer = await ask(`${path.includes('reconnect') ? 'POST' : 'GET'} ${path} HTTP/1.1`);
      assertEnvelope(answer, 404, 'not_found');
    }
  });

  it('answers every method that Node reads in the envelope (§7.1/envelope)', async () => {
    for (const method of METHODS.filter((name) => !['GET', 'HEAD', 'CONNECT'].includes(name))) {
      assertEnvelope(await ask(`${method} /v1/numbers HTTP/1.1`, ['Content-Type: application/json']), 405);
      assertEnvelope(
        await ask(`${method} /nothing HTTP/1.1`, ['Content-Type: application/json']),
        404,
        'not_found',
      );
    }
  });

  it('lets no page of another origin read an answer: there is no CORS (§7.2/no-cors)', async () => {
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

  it('refuses broken percent-encoding in the envelope', async () => {
    for (const path of ['/v1/messages/%', '/v1/messages/%zz', '/v1/messages/%C3%28', '/%E0%A4%A']) {
      assertEnvelope(await ask(`GET ${path} HTTP/1.1`), 400);
    }
  });

  it('finds nothing behind an id that cannot be one, and never fails over it (§2.1/id-format)', async () => {
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

  it('refuses query parameters that an operation does not take, by name (§2.1/unknown-fields)', async () => {
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

  it('refuses query parameters by name that have the name of something every object has', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      for (const path of ['/v1/numbers', '/v1/messages']) {
        const json = assertEnvelope(await ask(`GET ${path}?${name}=1 HTTP/1.1`), 400);
        assert.equal(field(json, 'error.param'), name);
      }
    }
  });

  it('answers what is no readable HTTP in the envelope and closes (§7.1/status-400, §7.2/request-id, §7.2/unreadable-requests)', async () => {
    const key = `x-api-key: ${team.api.key}`;
    const unreadable: [string, number, string | Uint8Array][] = [
      ['no HTTP at all', 400, 'hello\r\n\r\n'],
      [
        'TLS to the plain port',
        400,
        Uint8Array.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03]),
      ],
      ['HTTP/2 preface', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['unknown method', 400, 'FETCH /v1/numbers HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['space in the address', 400, 'GET /v1/num bers HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['header without a colon', 400, 'GET /v1/numbers HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n'],
      ['NUL in a header', 400, `GET /v1/numbers HTTP/1.1\r\nHost: a\r\nx: a\u0000b\r\n\r\n`],
      [
        'two lengths',
        400,
        `POST /v1/numbers/verify HTTP/1.1\r\nHost: a\r\n${key}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      ],
      [
        'length and chunks',
        400,
        `POST /v1/numbers/verify HTTP/1.1\r\nHost: a\r\n${key}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      ],
      [
        'a chunk without a size',
        400,
        `POST /v1/numbers/verify HTTP/1.1\r\nHost: a\r\n${key}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      ],
      [
        'chunked twice',
        400,
        `POST /v1/numbers/verify HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      ],
      ['no Host', 400, `GET /v1/numbers HTTP/1.1\r\nConnection: close\r\n${key}\r\n\r\n`],
      ['headers of 20 KB', 431, `GET /v1/numbers HTTP/1.1\r\nHost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`],
      ['an address of 20 KB', 431, `GET /v1/${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
      [
        'an expectation',
        417,
        `POST /v1/numbers/verify HTTP/1.1\r\nHost: a\r\n${key}\r\nExpect: a-miracle\r\nContent-Length: 0\r\n\r\n`,
      ],
      ['CONNECT', 405, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'],
    ];
    for (const [what, status, bytes] of unreadable) {
      const answer = await rawRequest(service.baseUrl, bytes);
      assert.equal(answer.status, status, `${what}: ${answer.body}`);
      assertEnvelope(answer, status);
    }
  });

  it('refuses what two servers may read in two ways, and closes the connection (§7.2/request-smuggling)', async () => {
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

  it('refuses a phone without Host as phones are refused, with the headers of every answer', async () => {
    const call = 'POST /v1/device/poll HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}';
    const { status, headers } = await rawRequest(service.baseUrl, call);
    assert.equal(status, 200);
    assert.match(headers.get('request-id') ?? '', /^req_/);
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  it('answers what came whole before it on the connection first (§7.2/unreadable-requests)', async () => {
    const message = `GET /v1/team HTTP/1.1\r\nHost: a\r\nx-api-key: ${team.api.key}\r\n\r\n`;
    const answers = await rawExchange(service.baseUrl, `${message.repeat(3)}hello\r\n\r\n`);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 400],
    );
    const tunnel = await rawExchange(service.baseUrl, `${message}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.deepEqual(
      tunnel.map(({ status }) => status),
      [200, 405],
    );
  });

  it('answers a request once whose body turns out unreadable after it was refused (§7.2/unreadable-requests)', async () => {
    const head = 'POST /v1/numbers/verify HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answers = await rawExchange(service.baseUrl, head, { later: 'zz\r\n' });
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401],
    );
  });

  it('answers 408 in the envelope for a request that does not end (§7.1/status-400)', async () => {
    // Node decides when; what is answered then is ours.
    const server = createServer((socket) => {
      const tooSlow = Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      new ClientErrorResponder(() => service.runtime.ids.nextPublic('req')).onClientError(tooSlow, socket);
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    assertEnvelope(await rawRequest(`http://127.0.0.1:${port}`, 'POST /v1/numbers/verify HTTP/1.1\r\n'), 408);
    await new Promise((resolve) => server.close(resolve));
  });

  it('goes on serving after all of that', async () => {
    assert.equal((await team.api.get('/v1/numbers')).status, 200);
  });
});
