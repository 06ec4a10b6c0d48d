import type { SimulatedPhone } from '#simulated-phone/simulated-phone.ts';
import { firstKey } from '#test/support/processes/spawned-service.ts';
import { ApiClient } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';
import { cpuSecondsOf } from '../cpu-time.ts';
import { residentMb } from '../process-memory.ts';
import { Servers, unlimited } from '../serve.ts';
import { startPhones } from '../simulated-phones.ts';
import { largeJpegSha256 } from './large-jpeg.ts';

const messages = Number(process.env.BENCH_MESSAGES ?? 1_000);
const fileBytes = 5 * 1_024 * 1_024;
/** Messages before the measurement, so that code is compiled and connections are open. */
const warmUp = 32;
const phones = 8;
const goalMb = 50;
const limitMs = 1_800_000;

/**
 * Measures media through one service: it fetches a file of 5 MiB for each message, and phones claim and download them.
 * Prints MB/s and the growth of the service's memory. The database takes 5 GB in a temporary folder.
 */
export async function benchMedia(): Promise<void> {
  const servers = await Servers.open();
  let running: readonly SimulatedPhone[] = [];
  try {
    const settings = { EGRESS_ALLOW_CIDRS: '127.0.0.1', DEVICE_HOLD_SECONDS: '2' };
    const service = await servers.start('server/main.ts', {
      settings: { ...unlimited(servers.dataDir), ...settings },
    });
    const host = await servers.start('bench/receiver.ts', { args: ['files'] });
    const api = new ApiClient(service.origin, await firstKey(servers.dataDir));
    const numbers = Array.from({ length: phones }, (_, n) => `+1415555010${n}`);
    let arrived = 0;
    let intact = 0;
    const sha256 = largeJpegSha256();
    running = await startPhones(api, numbers, (line) => {
      if (line.did !== 'sent') return;
      arrived += 1;
      if (line.media?.sha256 === sha256) intact += 1;
    });
    const send = async (first: number, end: number) => {
      for (let n = first; n < end; n += 1) {
        const to = `+1415555${1_000 + (n % 100)}`;
        const media_url = `${host.origin}/${n}.jpg`;
        const message = { from: numbers[n % phones] ?? '', to, content: 'Look', media_url };
        await api.send(message);
      }
    };
    const atStart = residentMb(service.pid);
    await send(0, warmUp);
    await until('the first have arrived', () => arrived === warmUp, limitMs);
    const atRest = residentMb(service.pid);
    let peak = atRest;
    const sampling = setInterval(() => {
      peak = Math.max(peak, residentMb(service.pid));
    }, 100);
    const cpuBefore = await cpuSecondsOf(service.pid);
    const startedMs = performance.now();
    try {
      await send(warmUp, warmUp + messages);
      await until('all have arrived', () => arrived === warmUp + messages, limitMs);
    } finally {
      clearInterval(sampling);
    }
    const seconds = (performance.now() - startedMs) / 1_000;
    const cpu = (await cpuSecondsOf(service.pid)) - cpuBefore;
    if (intact !== arrived) throw new Error(`${arrived - intact} files did not arrive as they were sent`);
    const megabytes = (messages * fileBytes) / 1e6;
    process.stdout.write(
      `media: ${messages} messages of 5 MiB in ${seconds.toFixed(1)} s, ${(megabytes / seconds).toFixed(0)} MB/s in and out; ` +
        `node's CPU ${((cpu * 1_000) / messages).toFixed(0)} ms a message\n` +
        `memory of the process: ${atStart.toFixed(0)} MB at its start, ${atRest.toFixed(0)} MB after the first ${warmUp}, then at most ${peak.toFixed(0)} MB: ` +
        `${(peak - atRest).toFixed(0)} MB more (goal ≤ ${goalMb})\n`,
    );
  } finally {
    for (const phone of running) phone.switchOff();
    await servers.close();
  }
}
