import { Connection, type Peer, type Reply } from './connection.ts';

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** The request with this number, counted over all connections. */
  readonly request: (index: number) => Buffer;
  /** The source address of a connection; undefined for 127.0.0.1. */
  readonly from?: (connection: number) => string;
  /** Requests in all. */
  readonly requests?: number;
  readonly durationMs?: number;
  readonly timeoutMs?: number;
  readonly onReply?: (reply: Reply) => void;
  readonly signal: AbortSignal;
}

export interface LoadResult {
  /** How many answers had each status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Requests whose connection ended before an answer. */
  readonly unanswered: number;
  readonly seconds: number;
}

const answerWithinMs = 30_000;
/** A service that refuses connections is asked again, and not in a busy loop. */
const pauseMs = 50;

/** Closed loop: each connection sends its next request when the one before is answered. */
export async function applyLoad(load: Load): Promise<LoadResult> {
  const statuses = new Map<number, number>();
  const open = new Set<Connection>();
  const startedMs = performance.now();
  let [next, unanswered] = [0, 0];
  const isOver = () =>
    load.signal.aborted ||
    next >= (load.requests ?? Number.POSITIVE_INFINITY) ||
    performance.now() - startedMs >= (load.durationMs ?? Number.POSITIVE_INFINITY);

  const run = async (peer: Peer) => {
    let connection: Connection | undefined;
    while (!isOver()) {
      const index = next;
      next += 1;
      try {
        if (!connection?.isUsable) {
          if (connection) open.delete(connection);
          connection = await Connection.open(peer);
          open.add(connection);
        }
        const reply = await connection.ask(load.request(index), load.timeoutMs ?? answerWithinMs);
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
        load.onReply?.(reply);
      } catch {
        if (isOver()) return;
        unanswered += 1;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  };
  const end = () => {
    for (const connection of open) connection.close();
  };
  const timer = load.durationMs === undefined ? undefined : setTimeout(end, load.durationMs);
  load.signal.addEventListener('abort', end, { once: true });
  await Promise.all(
    Array.from({ length: load.connections }, (_, index) =>
      run({ port: load.port, ...(load.from ? { from: load.from(index) } : {}) }),
    ),
  );
  clearTimeout(timer);
  load.signal.removeEventListener('abort', end);
  end();
  return { statuses, unanswered, seconds: (performance.now() - startedMs) / 1_000 };
}

let networks = 0;

/** A source address in an IPv4 network of its own, /24: a limit of each client network does not slow a measurement. */
export function newNetwork(): string {
  networks = (networks + 1) % 60_000;
  return `127.${1 + Math.floor(networks / 250)}.${1 + (networks % 250)}.1`;
}
