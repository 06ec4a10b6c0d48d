import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import { ask, originOf } from '../http.ts';
import type { VictimPlan, VictimSend } from './victim.ts';

/**
 * Open-loop load: sends at fixed times, whatever the answers do. It runs in a worker thread, so that the attack does
 * not delay its timers. A latency counts from the time at which its send was due.
 */
const { port, request, durationMs } = workerData as VictimPlan;
const perSecond = 30;
const answerWithinMs = 20_000;
const pool = new Pool(originOf(port), { connectTimeout: answerWithinMs });

async function send(dueMs: number): Promise<VictimSend> {
  const { status } = await ask(pool, request, answerWithinMs);
  return { status, latencyMs: performance.now() - dueMs };
}

const startMs = performance.now();
const sending: Promise<VictimSend>[] = [];
while (sending.length < Math.floor((durationMs * perSecond) / 1_000)) {
  const dueMs = startMs + (sending.length * 1_000) / perSecond;
  await pause(Math.max(0, dueMs - performance.now()));
  sending.push(send(dueMs));
}
parentPort?.postMessage('due');
parentPort?.postMessage(await Promise.all(sending));
