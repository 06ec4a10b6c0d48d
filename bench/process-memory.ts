import { residentBytes } from '#campaign/neighbours/cpu-time.ts';
import { until } from '#test/support/service/until.ts';

/** Resident memory of a process in MB (10^6 bytes). Linux only. */
export const residentMb = (pid: number) => residentBytes(pid) / 1e6;

/**
 * Memory that JavaScript objects and buffers of a Node process still use, in MB, after a garbage collection. It opens
 * the process's inspector, so the process needs a port of its own (`--inspect-port`).
 */
export async function liveMb(pid: number, inspectPort: number): Promise<number> {
  process.kill(pid, 'SIGUSR1');
  const url = await until('the inspector listens', () =>
    fetch(`http://127.0.0.1:${inspectPort}/json`).then(
      async (answer) =>
        ((await answer.json()) as { webSocketDebuggerUrl: string }[])[0]?.webSocketDebuggerUrl,
      () => undefined,
    ),
  );
  const socket = new WebSocket(url);
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const call = async (method: string) => {
    const answered = new Promise<MessageEvent>((resolve) =>
      socket.addEventListener('message', resolve, { once: true }),
    );
    socket.send(JSON.stringify({ id: 1, method }));
    return JSON.parse(String((await answered).data)).result;
  };
  await call('HeapProfiler.collectGarbage');
  const { usedSize, embedderHeapUsedSize, backingStorageSize } = await call('Runtime.getHeapUsage');
  socket.close();
  return (usedSize + embedderHeapUsedSize + backingStorageSize) / 1e6;
}
