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
 * Sends the messages of one conversation one after the other. It repeats a send without an answer under the same
 * Idempotency-Key. Some sends are made twice at once, some repeated after their answer. Every tenth message has a file.
 */
export class Sender {
  readonly #options: SenderOptions;
  #count = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Runs until the signal aborts, and waits for the answer in progress. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#send();
      await pause(2 * this.#options.pauseMs * Math.random());
    }
  }

  async #send(): Promise<void> {
    const { from, to } = this.#options;
    this.#count += 1;
    const key = `${from}-${to}-${this.#count}`;
    const content = contentOf(key, this.#count);
    const media = this.#count % 10 === 3 ? { media: this.#options.mediaUrl } : {};
    const ask = () => this.#ask(key, content, media);
    await Promise.all(this.#count % 5 === 0 ? [ask(), ask()] : [ask()]);
    if (this.#count % 7 === 0) await ask();
  }

  async #ask(key: string, content: string, file: { readonly media?: string }): Promise<void> {
    const { history, api, team, from, to } = this.#options;
    let answer: Answer | undefined;
    while (!answer || answer.status >= 500) {
      if (answer) await api.again();
      history.record({ kind: 'send_requested', team, key, from, to, content, ...file });
      answer = await api
        .call({
          method: 'POST',
          path: '/v1/messages/send',
          body: { from, to, content, media_url: file.media ?? null },
          headers: { 'idempotency-key': key },
        })
        .catch(() => ({ status: 599, text: '', json: {} }));
    }
    if (answer.status === 202)
      history.record({ kind: 'send_accepted', team, key, message: String(answer.json.id) });
    else history.record({ kind: 'send_refused', team, key, answer: `${answer.status} ${answer.text}` });
  }
}
