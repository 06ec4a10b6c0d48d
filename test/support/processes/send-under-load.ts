import { ApiClient } from '#test/support/service/api-client.ts';
import { until } from '#test/support/service/until.ts';

/** Sender's record of its messages, with which the state after a crash is compared. */
export interface SendHistory {
  /** Message ids by Idempotency-Key, for sends that were answered 202. */
  readonly accepted: Map<string, string>;
  /** Idempotency-Keys of requests without an answer or with a 5xx: their messages may exist or not. */
  readonly open: Set<string>;
}

interface SenderOptions {
  /** Called before each request, as a restarted service may have another address. */
  readonly baseUrl: () => string;
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly connections: number;
  /** Prefix of every Idempotency-Key of this load. */
  readonly prefix: string;
  readonly isOver: () => boolean;
}

/** Sends messages with Idempotency-Keys until `isOver`, and records the answers. */
export async function sendUnderLoad(options: SenderOptions): Promise<SendHistory> {
  const history: SendHistory = { accepted: new Map(), open: new Set() };
  let next = 0;
  const connection = async () => {
    while (!options.isOver()) {
      next += 1;
      const key = `${options.prefix}-${next}`;
      // A careful client repeats the request with the same key until there is an answer.
      await until(`an answer for ${key}`, async () => {
        await sendOnce(options, history, key);
        return !history.open.has(key) || options.isOver();
      });
    }
  };
  await Promise.all(Array.from({ length: options.connections }, connection));
  return history;
}

/** Sends once with a key. Repeating an open key shows whether the message was accepted. */
export async function sendOnce(
  options: Pick<SenderOptions, 'baseUrl' | 'key' | 'from' | 'to'>,
  history: SendHistory,
  key: string,
): Promise<void> {
  try {
    const api = new ApiClient(options.baseUrl(), options.key);
    const body = { from: options.from, to: options.to, content: key };
    const answer = await api.post('/v1/messages/send', body, { 'idempotency-key': key });
    if (answer.status === 202) {
      history.accepted.set(key, String(answer.json.id));
      history.open.delete(key);
    } else if (answer.status >= 500) {
      history.open.add(key);
    } else {
      throw new Error(`unexpected answer ${answer.status}: ${answer.text}`);
    }
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('unexpected')) throw error;
    history.open.add(key);
  }
}
