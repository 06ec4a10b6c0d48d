import { parentPort, workerData } from 'node:worker_threads';
import { Connection } from './connection.ts';
import type { VictimPlan, VictimSends } from './victim.ts';

/**
 * Open-loop load: sends at fixed times, whatever the answers do. It runs in a worker thread, so that the attack does
 * not delay its timers. A latency counts from the time at which its send was due.
 */
const { port, request, perSecond, durationMs, answerWithinMs } = workerData as VictimPlan;
const bytes = Buffer.from(request);
const idle: Connection[] = [];
const sends: VictimSends = { latenciesMs: [], statuses: [], unanswered: 0 };

async function send(dueMs: number): Promise<void> {
  try {
    let connection = idle.pop();
    while (connection && !connection.isUsable) connection = idle.pop();
    connection ??= await Connection.open({ port });
    const reply = await connection.ask(bytes, answerWithinMs);
    sends.latenciesMs.push(performance.now() - dueMs);
    sends.statuses.push(reply.status);
    idle.push(connection);
  } catch {
    sends.latenciesMs.push(performance.now() - dueMs);
    sends.unanswered += 1;
  }
}

const startMs = performance.now();
const sending: Promise<void>[] = [];
const count = Math.floor((durationMs * perSecond) / 1_000);
for (let index = 0; index < count; index += 1) {
  const dueMs = startMs + (index * 1_000) / perSecond;
  const pauseMs = dueMs - performance.now();
  if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  sending.push(send(dueMs));
}
parentPort?.postMessage('due');
await Promise.all(sending);
for (const connection of idle) connection.close();
parentPort?.postMessage(sends);
