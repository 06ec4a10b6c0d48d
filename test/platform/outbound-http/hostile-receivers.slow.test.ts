import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { parseAddressRange } from '#server/platform/network/ip-address.ts';
import { OutboundHttp, type OutboundOutcome } from '#server/platform/outbound-http/outbound-http.ts';
import { until } from '#test/support/service/until.ts';

const atOnce = 100;
const megabyte = 1_048_576;

describe('100 simultaneous requests to receivers that waste time and memory (specification section 6.5)', () => {
  const http = new OutboundHttp({
    allowed: [parseAddressRange('127.0.0.1')].flatMap((range) => range ?? []),
  });
  // The options of the test process must not reach the child process.
  const receivers = fork(new URL('../../support/webhooks/hostile-receiver.ts', import.meta.url), {
    execArgv: [],
  });
  let port: unknown;

  const sendAll = async (way: string, timeoutMs: number) => {
    const request = { method: 'POST', headers: {}, body: Buffer.from('{}'), timeoutMs } as const;
    const url = `http://127.0.0.1:${port}/${encodeURIComponent(way)}`;
    let mostBytes = 0;
    const before = process.memoryUsage().rss;
    let lookedAtMs = performance.now();
    let longestPauseMs = 0;
    const looking = setInterval(() => {
      longestPauseMs = Math.max(longestPauseMs, performance.now() - lookedAtMs);
      lookedAtMs = performance.now();
      mostBytes = Math.max(mostBytes, process.memoryUsage().rss - before);
    }, 20);
    const outcomes = await Promise.all(Array.from({ length: atOnce }, () => http.send({ ...request, url })));
    clearInterval(looking);
    return { outcomes, longestPauseMs, mostBytes: Math.max(mostBytes, process.memoryUsage().rss - before) };
  };

  before(async () => {
    [port] = await once(receivers, 'message');
    // Warms up, because the first 100 connections take memory whatever the receiver does.
    await sendAll('says nothing', 1_000);
  });
  after(async () => {
    await http.close();
    receivers.kill();
    await until('the receivers are gone', () => receivers.exitCode !== null || receivers.signalCode !== null);
  });

  const saidOf = (outcome: OutboundOutcome) =>
    outcome.kind === 'answered' ? `${outcome.body.length} bytes, cut off` : outcome.class;
  /** The time-out is 1 s for receivers that delay. Endless answers end by their size, long before the time-out. */
  const ways: Readonly<Record<string, readonly [said: string, timeoutMs: number]>> = {
    'drips a body': ['timeout', 1_000],
    'drips headers': ['timeout', 1_000],
    'says nothing': ['timeout', 1_000],
    'sends specks': ['timeout', 1_000],
    'promises for ever': ['invalid_answer', 10_000],
    'sends a gigabyte': ['16384 bytes, cut off', 10_000],
    'sends compressed nothing': ['16384 bytes, cut off', 10_000],
    'heads for ever': ['headers_too_large', 10_000],
  };
  for (const [way, [said, timeoutMs]] of Object.entries(ways)) {
    it(`100 requests to a receiver that ${way} end within half a second of their deadline, in 30 MB (§6.5/deadline-and-bounds)`, async () => {
      const { outcomes, longestPauseMs, mostBytes } = await sendAll(way, timeoutMs);
      assert.deepEqual([...new Set(outcomes.map(saidOf))], [said]);
      assert.ok(outcomes.every((outcome) => outcome.kind === 'failed' || outcome.truncated));
      const longestMs = Math.max(...outcomes.map(({ durationMs }) => durationMs));
      // On a busy machine timers of this process run late, which is not the guard's fault.
      assert.ok(longestMs <= timeoutMs + 500 + longestPauseMs, `${longestMs} ms`);
      assert.ok(mostBytes <= 30 * megabyte, `${mostBytes / megabyte} MB`);
    });
  }
});
