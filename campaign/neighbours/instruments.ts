import { fork } from 'node:child_process';
import { once } from 'node:events';
import { runAttack } from './attack.ts';
import { strangers } from './caller.ts';
import { measureCost } from './cost.ts';
import { CpuMeter } from './cpu-time.ts';
import { type Breach, breachesOfAttack, breachesOfCost, breachesOfSlowReaders } from './limits.ts';
import type { Probe } from './probe.ts';
import { runSlowReaders } from './slow-readers.ts';

const idle = { eventLoopMs: 0, otherThreadsMs: 0, postgresMs: 0 };

/**
 * Checks the instruments on a small service with two faults. One route uses the event loop for 8 ms, and slow readers
 * are never disconnected. Results about Ownline count only if these faults are found.
 * @throws Error with a fault that was not found, or with a false finding
 */
export async function checkInstruments(signal: AbortSignal): Promise<void> {
  const service = fork(new URL('./seeded-service.ts', import.meta.url), { stdio: 'inherit', execArgv: [] });
  try {
    const [{ port }] = (await once(service, 'message', { signal })) as [{ port: number }];
    if (service.pid === undefined) throw new Error('The service with seeded faults did not start.');
    const meter = new CpuMeter(service.pid, undefined);
    const [caller] = strangers({ apiKey: '' }, {});
    if (!caller) throw new Error('The list of callers is empty.');
    const request = (path: string) => Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
    const probe = (path: string): Probe => ({
      ...{ caller, route: `GET ${path}`, shape: 'plain address', request: () => request(path) },
    });
    const cost = (path: string) =>
      measureCost(probe(path), { port, meter, idle, requests: 8, batches: 3 }).then(breachesOfCost);
    const attack = (path: string) =>
      runAttack(
        [probe(path)],
        { port, meter, victimRequest: request('/cheap'), durationMs: 1_500 },
        signal,
      ).then(breachesOfAttack);
    expect('R1', 'an expensive request', await cost('/expensive'));
    expect(undefined, 'a cheap request', await cost('/cheap'));
    expect('R1', '64 connections of an expensive request', await attack('/expensive'));
    const slowReaders = { port, meter, sockets: 40, path: '/large', answerBytes: 4e6, giveUpMs: 1_000 };
    expect(
      'R2',
      'sockets that do not read',
      breachesOfSlowReaders(await runSlowReaders(slowReaders, signal)),
    );
  } finally {
    service.kill('SIGKILL');
  }
}

function expect(goal: Breach['goal'] | undefined, seeded: string, breaches: readonly Breach[]): void {
  const isFound = breaches.some((breach) => breach.goal === goal);
  if (goal === undefined ? breaches.length === 0 : isFound) return;
  const found = breaches.map(({ says }) => says).join('; ') || 'nothing';
  throw new Error(`The campaign's instruments are wrong about ${seeded}: they found ${found}.`);
}
