import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { ClientErrorResponder } from '#server/platform/http/client-error.ts';
import { assertEnvelope } from '#test/support/http/assert-envelope.ts';
import { rawExchange, rawRequest } from '#test/support/http/raw-http.ts';
import { field } from '#test/support/service/api-client.ts';
import { givenTeam } from '#test/support/service/given-team.ts';
import { freePort } from '#test/support/service/test-service.ts';

describe('requests that are not valid HTTP (specification section 7.2)', () => {
  const { service, team } = givenTeam();

  it('invalid HTTP is answered in the envelope, and the connection is closed (§7.1/status-400, §7.2/request-id, §7.2/unreadable-requests)', async () => {
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

  it('a request that two servers may read in two ways is refused, and the connection is closed (§7.2/request-smuggling)', async () => {
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

  it('a phone’s request without Host is refused in the phones’ format, with the usual headers', async () => {
    const call = 'POST /v1/device/poll HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}';
    const { status, headers } = await rawRequest(service.baseUrl, call);
    assert.equal(status, 200);
    assert.match(headers.get('request-id') ?? '', /^req_/);
    assert.equal(headers.get('cache-control'), 'no-store');
  });

  it('complete requests are answered before the invalid one that follows them on the connection (§7.2/unreadable-requests)', async () => {
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

  it('a request whose body turns out invalid after its refusal is answered once (§7.2/unreadable-requests)', async () => {
    const head = 'POST /v1/numbers/verify HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answers = await rawExchange(service.baseUrl, head, { later: 'zz\r\n' });
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401],
    );
  });

  it('an incomplete request is answered 408 in the envelope (§7.1/status-400)', async () => {
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

  it('invalid requests leave other requests unaffected', async () => {
    assert.equal((await team.api.get('/v1/numbers')).status, 200);
  });
});
