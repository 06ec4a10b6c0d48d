import { setTimeout as pause } from 'node:timers/promises';
import { type Api, itemsOf } from './api.ts';

/** Acts as the people of a team: enables webhooks that were disabled, and replays the deliveries that they missed. */
export class Operator {
  readonly #api: Api;
  readonly #since = new Date().toISOString();

  constructor(api: Api) {
    this.#api = api;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(2_000, undefined, { signal }).catch(() => undefined);
      for (const webhook of await this.#webhooks())
        if (webhook.active === false) await this.#revive(webhook.id);
    }
  }

  /** Finds messages without a final status. @returns a sentence about them; undefined for none */
  async unfinishedMessages(): Promise<string | undefined> {
    for (const status of ['queued', 'polling']) {
      const page = await this.#api.get(`/v1/messages?status=${status}&limit=1`);
      if (page.has_more === true || itemsOf(page, 'messages').length > 0) return `messages are ${status}`;
    }
    return undefined;
  }

  /** Replays failed and skipped deliveries. @returns which deliveries have not succeeded; undefined for none */
  async unfinishedDeliveries(): Promise<string | undefined> {
    for (const { id, active } of await this.#webhooks()) {
      if (active === false) await this.#revive(id);
      for (const status of ['pending', 'failed', 'skipped']) {
        if (!(await this.#hasDeliveries(id, status))) continue;
        if (status !== 'pending') await this.#replay(id);
        return `deliveries of ${id} are ${status}`;
      }
    }
    return undefined;
  }

  async #webhooks() {
    return itemsOf(await this.#api.get('/v1/webhooks'), 'webhooks');
  }

  async #revive(id: unknown): Promise<void> {
    await this.#api.insist({ method: 'PUT', path: `/v1/webhooks/${id}`, body: { active: true } });
    await this.#replay(id);
  }

  /** A 409 means that the webhook was disabled again; the next round enables it. */
  async #replay(id: unknown): Promise<void> {
    const body = { since: this.#since, only: 'all' };
    await this.#api.insist({ method: 'POST', path: `/v1/webhooks/${id}/replay`, body });
  }

  /** A page may be empty although more pages follow. */
  async #hasDeliveries(id: unknown, status: string): Promise<boolean> {
    for (let cursor = ''; ; ) {
      const page = await this.#api.get(`/v1/webhooks/${id}/deliveries?status=${status}&cursor=${cursor}`);
      if (itemsOf(page, 'deliveries').length > 0) return true;
      if (page.has_more !== true) return false;
      cursor = String(page.cursor);
    }
  }
}
