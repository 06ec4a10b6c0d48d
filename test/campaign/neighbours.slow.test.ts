import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { type CallerKind, strangers } from '#campaign/neighbours/caller.ts';
import { Connection } from '#campaign/neighbours/connection.ts';
import type { Cost } from '#campaign/neighbours/cost.ts';
import * as limits from '#campaign/neighbours/limits.ts';
import { type Probe, probesOf } from '#campaign/neighbours/probe.ts';
import type { Route } from '#campaign/neighbours/route-table.ts';
import { chooseAttacks } from '#campaign/neighbours/selection.ts';
import { figuresOf } from '#campaign/neighbours/victim.ts';

const [stranger] = strangers({ apiKey: 'own_live_x' }, { from: '+14155550111' });
assert.ok(stranger);
const max = limits.limits;

function probe(kind: CallerKind, route = 'POST /v1/things', shape = 'most fields'): Probe {
  assert.ok(stranger);
  const isStranger = kind === 'no credential' || kind === 'wrong credential';
  return { caller: { ...stranger, kind, isStranger }, route, shape, request: () => Buffer.alloc(0) };
}

function cost(eventLoopMs: number, of = probe('no credential')): Cost {
  const cpu = { eventLoopMs, otherThreadsMs: 0, postgresMs: 0 };
  return { probe: of, status: 400, answerBytes: 300, cpu, isLate: false };
}

const calm = { sends: 300, p50Ms: 5, p99Ms: 20, serverErrors: 0, refusals: 0 };
const load = { statuses: new Map([[400, 10]]), unanswered: 0, seconds: 1 };
const shares = { busy: 1, waited: 0 };
const attack = (kind: CallerKind, victim: object, grownBytes = 0) =>
  limits.breachesOfAttack({
    probe: probe(kind),
    victim: { ...calm, ...victim },
    load,
    grownBytes,
    ...shares,
  });
const slowReaders = (openSeconds: number, grownBytes: number, left = 0) =>
  limits.breachesOfSlowReaders({ path: '/docs', sockets: 3_000, openSeconds, left, grownBytes });
const refusals = (rows: number, logBytes: number) =>
  limits.breachesOfRefusals({ refused: 10_000, rows, tables: [], databaseBytes: 0, logBytes });
const heldBody = (bytesEach: number) =>
  limits.breachesOfBody({ caller: probe('no credential').caller, route: 'POST /v1/things', bytesEach });
const teamLoad = (victim: object) =>
  limits.breachesOfTeamLoad({
    ...{ name: 'lists', victim: { ...calm, ...victim }, statuses: new Map(), grownBytes: 0 },
    ...shares,
  });

/** For each limit, a result at the limit and one just above it. */
const bounds: readonly (readonly [string, limits.Breach['goal'], limits.Breach[], limits.Breach[]])[] = [
  ['event loop', 'R1', limits.breachesOfCost(cost(1)), limits.breachesOfCost(cost(1.01))],
  ['memory of a body', 'R1', heldBody(max.strangerBodyBytes), heldBody(max.strangerBodyBytes + 1)],
  [
    'memory of 64 requests',
    'R1',
    attack('no credential', {}, max.strangerGrowthBytes),
    attack('no credential', {}, max.strangerGrowthBytes + 1),
  ],
  [
    'p99 beside strangers',
    'R1',
    attack('wrong credential', { p99Ms: 250 }),
    attack('wrong credential', { p99Ms: 251 }),
  ],
  [
    'errors beside strangers',
    'R1',
    attack('no credential', {}),
    attack('no credential', { serverErrors: 1 }),
  ],
  ['refusals beside strangers', 'R1', attack('no credential', {}), attack('no credential', { refusals: 1 })],
  [
    'good keys beside wrong ones',
    'R1',
    limits.breachesOfSharedAddress({ wrongKeys: 300, status: 200 }),
    limits.breachesOfSharedAddress({ wrongKeys: 300, status: 429 }),
  ],
  ['slow readers', 'R2', slowReaders(40, 0), slowReaders(41, 0)],
  ['slow readers that stay', 'R2', slowReaders(40, 0), slowReaders(40, 0, 1)],
  [
    'memory of slow readers',
    'R2',
    slowReaders(1, max.slowReadersGrowthBytes),
    slowReaders(1, max.slowReadersGrowthBytes + 1),
  ],
  [
    'polls that are held longer',
    'R2',
    limits.breachesOfHeldPoll({ status: 200, seconds: 40 }),
    limits.breachesOfHeldPoll({ status: 200, seconds: 39.9 }),
  ],
  ['p99 beside a key', 'R3', attack('key', { p99Ms: 500 }), attack('key', { p99Ms: 501 })],
  ['p99 beside a team', 'R3', teamLoad({ p99Ms: 500 }), teamLoad({ p99Ms: 501 })],
  ['errors beside a team', 'R3', teamLoad({}), teamLoad({ serverErrors: 1 })],
  ['rows of refusals', 'R4', refusals(500, 0), refusals(501, 0)],
  ['log of refusals', 'R4', refusals(0, max.refusalLogBytes), refusals(0, max.refusalLogBytes + 1)],
];

describe('the campaign of neighbours', () => {
  for (const [name, goal, held, broken] of bounds) {
    it(`a limit holds at its value and is broken above it: ${name}`, () => {
      assert.deepEqual(held, []);
      assert.deepEqual(
        broken.map((breach) => breach.goal),
        [goal],
      );
    });
  }

  it('the CPU limit of goal R1 does not apply to members, keys and phones', () => {
    for (const kind of ['member', 'key', 'phone'] as const)
      assert.deepEqual(limits.breachesOfCost(cost(50, probe(kind))), []);
  });

  it('a route is measured with each parameter, its longest address, and every kind of large body', () => {
    assert.ok(stranger);
    const text = { type: 'string', maxLength: 20 };
    const route: Route = {
      method: 'POST',
      path: '/v1/things/:id/parts',
      audience: 'api',
      bodyLimitBytes: 10_000,
      body: {
        type: 'object',
        properties: { from: text, colours: { type: 'array', items: { enum: ['red', 'green'] } } },
      },
      query: { type: 'object', properties: { shade: text, limit: { type: 'integer', maximum: 100 } } },
    };
    const probes = probesOf(route, stranger, 3_000);
    const requestOf = (shape: string) => {
      const found = probes.find((one) => one.shape === shape);
      assert.ok(found, shape);
      const [head = '', body = ''] = found.request().toString().split('\r\n\r\n');
      assert.ok(head.length < 16_384, `${shape}: the head is too long`);
      return { head, body };
    };
    assert.match(requestOf('parameter shade').head, /parts\?shade=a{20}&limit=100 HTTP/);
    assert.match(requestOf('longest address').head, /things\/a{14000}/);
    assert.match(requestOf('most parameters').head, /parts\?(a&){7000}/);
    assert.deepEqual(JSON.parse(requestOf('largest valid body').body), {
      from: '+14155550111',
      colours: ['red', 'green'],
    });
    const large = [
      ...['longest text', 'longest escaped text', 'array in a text field', 'longest array in colours'],
      ...['longest array of wrong items in colours', 'most fields', 'deepest arrays', 'deepest objects'],
    ];
    for (const shape of large) {
      const { body } = requestOf(shape);
      assert.doesNotThrow(() => JSON.parse(body), shape);
      assert.ok(body.length <= 10_000 && body.length > 9_900, `${shape}: ${body.length} bytes`);
    }
    assert.ok(requestOf('body over the limit').body.length > 1_000_000);
  });

  it('the campaign attacks with the most expensive requests, one per route', () => {
    const array = cost(2, probe('key', 'PUT /a', 'longest array in x'));
    const costs = [
      cost(90, probe('no credential', 'POST /a')),
      cost(80, probe('wrong credential', 'POST /a')),
      cost(70, probe('no credential', 'POST /b')),
      cost(1, probe('no credential', 'GET /c')),
      array,
      cost(60, probe('key', 'POST /d')),
      cost(50, probe('member', 'POST /sign-out')),
      cost(40, probe('member', 'POST /e')),
    ];
    const chosen = chooseAttacks(
      { costs, endsCredential: new Set(['POST /sign-out']) },
      { strangers: 2, member: 1, key: 2, phone: 1 },
    );
    const names = chosen.map(({ probe: { caller, route } }) => `${caller.kind} ${route}`).toSorted();
    assert.deepEqual(names, [
      'key POST /d',
      'key PUT /a',
      'member POST /e',
      'no credential GET /c',
      'no credential POST /a',
    ]);
  });

  it("the victim's figures count 5xx and missing answers as errors, and all further answers except 202 as refusals", () => {
    const latenciesMs = Array.from({ length: 100 }, (_, index) => 100 - index);
    const statuses = [202, 202, 429, 500, 503];
    assert.deepEqual(figuresOf({ latenciesMs, statuses, unanswered: 2 }), {
      ...{ sends: 100, p50Ms: 50, p99Ms: 99, serverErrors: 4, refusals: 1 },
    });
  });

  it('a connection reads answers to their end, with a length, in chunks or without a body', async () => {
    const server = createServer((request, response) => {
      request.resume();
      if (request.url === '/chunks') {
        response.write('a'.repeat(70_000));
        setImmediate(() => response.end('0\r\n\r\nb'));
      } else if (request.url === '/none') response.writeHead(304).end();
      else response.setHeader('content-length', 100_000).end('c'.repeat(100_000));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const connection = await Connection.open({ port, from: '127.1.2.3' });
    try {
      const ask = (path: string) =>
        connection.ask(Buffer.from(`GET ${path} HTTP/1.1\r\nhost: example.com\r\n\r\n`), 30_000);
      for (const path of ['/length', '/chunks', '/none', '/chunks', '/length']) {
        const reply = await ask(path);
        assert.equal(reply.status, path === '/none' ? 304 : 200);
        if (path === '/length') assert.ok(reply.bytes > 100_000 && reply.text.endsWith('ccc'));
        if (path === '/chunks') assert.match(reply.text, /b\r\n0\r\n\r\n$/);
      }
    } finally {
      connection.close();
      server.close();
    }
  });
});
