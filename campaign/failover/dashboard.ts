import { setTimeout as pause } from 'node:timers/promises';
import type { History } from '../history.ts';

interface DashboardOptions {
  readonly history: History;
  readonly baseUrl: string;
  readonly team: string;
  /** The Cookie header of a member's session. */
  readonly cookie: string;
}

/** Follows a team's live stream as a browser does, and opens it again whenever it ends, until the signal aborts. */
export async function followDashboard(options: DashboardOptions, signal: AbortSignal): Promise<void> {
  const { history, baseUrl, team, cookie } = options;
  for (let retryMs = 1_000; !signal.aborted; ) {
    try {
      const url = `${baseUrl}/app/teams/${team}/live`;
      const { body } = await fetch(url, { headers: { cookie }, signal });
      for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        retryMs = Number(/^retry: (\d+)/m.exec(text)?.[1] ?? retryMs);
        if (/^event: (hello|changed|reload)$/m.test(text)) history.record({ kind: 'live_event', team });
      }
    } catch {
      // The next stream follows.
    }
    await pause(retryMs, undefined, { signal }).catch(() => undefined);
  }
}
