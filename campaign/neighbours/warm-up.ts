import type { Caller } from './caller.ts';
import { Connection } from './connection.ts';
import { newNetwork } from './load.ts';
import { probesOf } from './probe.ts';
import type { Route } from './route-table.ts';

const answerWithinMs = 30_000;

/** Requests every page once, because the service prepares static answers at their first request. */
export async function warmUp(routes: readonly Route[], stranger: Caller, port: number): Promise<void> {
  const pages = routes.filter(({ method, audience }) => method === 'GET' && audience === 'page');
  for (const page of pages) {
    const probe = probesOf(page, stranger, port).find(({ shape }) => shape === 'plain address');
    if (!probe) continue;
    const connection = await Connection.open({ port, from: newNetwork() });
    await connection.ask(probe.request(), answerWithinMs).catch(() => undefined);
    connection.close();
  }
}
