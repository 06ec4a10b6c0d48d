import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Api } from './api.ts';
import { contentOf } from './contents.ts';
import type { History } from './history.ts';

interface SenderOptions {
  readonly history: History;
  readonly api: Api;
  readonly team: string;
  readonly from: string;
  readonly to: string;
  readonly mediaUrl: string;
  /** Average time between an answer and the next message. */
  readonly pauseMs: number;
}

/**
 * Sends the messages of one conversation one after the other, until the signal aborts and the answer in progress came.
 * It repeats a send without an answer under the same Idempotency-Key. Some sends are made twice at once, some repeated
 * after their answer. Every tenth message has a file.
 */
export async function converse(options: SenderOptions, signal: AbortSignal): Promise<void> {
  const { from, to, mediaUrl, pauseMs } = options;
  for (let count = 1; !signal.aborted; count += 1) {
    const key = `${from}-${to}-${count}`;
    const ask = () => send(options, key, contentOf(key, count), count % 10 === 3 ? { media: mediaUrl } : {});
    await Promise.all(count % 5 === 0 ? [ask(), ask()] : [ask()]);
    if (count % 7 === 0) await ask();
    await pause(2 * pauseMs * Math.random());
  }
}

async function send(
  { history, api, team, from, to }: SenderOptions,
  key: string,
  content: string,
  file: { readonly media?: string },
): Promise<void> {
  const body = { from, to, content, media_url: file.media ?? null };
  const request = {
    method: 'POST',
    path: '/v1/messages/send',
    body,
    headers: { 'idempotency-key': key },
  } as const;
  let answer: Answer | undefined;
  while (!answer || answer.status >= 500) {
    if (answer) await api.again();
    history.record({ kind: 'send_requested', team, key, from, to, content, ...file });
    const askedAt = Date.now();
    answer = await api.call(request).catch(() => ({ status: 599, text: '', json: {}, retryAfter: null }));
    const { status, text, retryAfter } = answer;
    history.record({ kind: 'send_answered', key, status, text, retryAfter, ms: Date.now() - askedAt });
  }
  if (answer.status === 202)
    history.record({ kind: 'send_accepted', team, key, message: String(answer.json.id) });
  else history.record({ kind: 'send_refused', team, key, answer: `${answer.status} ${answer.text}` });
}
