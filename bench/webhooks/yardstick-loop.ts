import { Pool } from 'undici';
import { cpuSecondsOf } from '../cpu-time.ts';
import type { Served } from '../serve.ts';
import type { Measured } from './bench-webhooks.ts';

const connections = 256;
const seconds = 3;

/**
 * The yardstick of benchmark P4: a bare undici loop that posts the same bytes and headers, without signatures and
 * records. The first quarter warms up, and does not count for the rate.
 */
export async function postInALoop(
  sink: Served,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): Promise<Measured> {
  const pool = new Pool(sink.origin, { connections });
  const [sinkBefore, before] = [await cpuSecondsOf(sink.pid), process.cpuUsage()];
  let [posted, cold] = [0, 0];
  const started = performance.now();
  const warm = started + seconds * 250;
  const until = started + seconds * 1_000;
  const loop = async () => {
    while (performance.now() < until) {
      const answer = await pool.request({ method: 'POST', path, headers: { ...headers }, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`the sink answered ${answer.statusCode}`);
      posted += 1;
      if (performance.now() < warm) cold = posted;
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  const perSecond = (posted - cold) / ((performance.now() - warm) / 1_000);
  await pool.close();
  const { user, system } = process.cpuUsage(before);
  const sinkUs = ((await cpuSecondsOf(sink.pid)) - sinkBefore) * 1e6;
  return { perSecond, cpuUs: { node: (user + system) / posted, PostgreSQL: 0, sink: sinkUs / posted } };
}
