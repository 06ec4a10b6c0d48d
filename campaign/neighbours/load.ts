import { Connection, type Peer, type Reply } from './connection.ts';

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** Returns the request with an index that counts over all connections. */
  readonly request: (index: number) => Buffer;
  /** The source address of a connection; undefined means 127.0.0.1. */
  readonly from?: (connection: number) => string;
  readonly requests?: number;
  readonly durationMs?: number;
  readonly timeoutMs?: number;
  readonly onReply?: (reply: Reply) => void;
  readonly signal: AbortSignal;
}

export interface LoadResult {
  readonly statuses: ReadonlyMap<number, number>;
  readonly unanswered: number;
  readonly seconds: number;
}

const answerWithinMs = 30_000;
/** The pause before a refused connection is tried again. */
const pauseMs = 50;

/** Applies a closed-loop load: each connection sends its next request once it has the response to its previous one. */
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

/** A source address in a new /24 network, so that limits of a client network do not slow a measurement. */
export function newNetwork(): string {
  networks = (networks + 1) % 60_000;
  return `127.${1 + Math.floor(networks / 250)}.${1 + (networks % 250)}.1`;
}
