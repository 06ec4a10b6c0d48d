import assert from 'node:assert/strict';
import type { Direction, MessageStatus } from '#contract/message.ts';
import type { ApiClient } from '#test/support/service/api-client.ts';

/** An item of the list with the fields of the specification. */
export interface Item {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly content: string;
  readonly media_url: null;
  readonly status: MessageStatus;
  readonly direction: Direction;
  readonly created_at: string;
  readonly delivered_at: string | null;
}

export interface Filters {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly status?: string | undefined;
  readonly direction?: string | undefined;
}

export interface Page {
  readonly messages: readonly Item[];
  readonly cursor: string;
  readonly has_more: boolean;
}

/** Address of a page with encoded parameters. */
export function address(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return `/v1/messages?${new URLSearchParams(given)}`;
}

/** Gets a page. @throws unless the status is 200 */
export async function getPage(
  api: ApiClient,
  parameters: Readonly<Record<string, string | number | undefined>>,
): Promise<Page> {
  const answer = await api.get(address(parameters));
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.json), ['messages', 'cursor', 'has_more']);
  return answer.json as unknown as Page;
}

/** Reads every page from a position to the end, as clients should: follow cursor until has_more is false. */
export async function walk(
  clients: readonly ApiClient[],
  filters: Filters,
  limit: () => number,
  cursor?: string,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 0, from = cursor; ; page += 1) {
    const asked = limit();
    const api = clients[page % clients.length];
    assert.ok(api);
    const got = await getPage(api, { ...filters, limit: asked, cursor: from });
    assert.ok(got.messages.length <= asked, `${got.messages.length} on a page of ${asked}`);
    items.push(...got.messages);
    if (!got.has_more) {
      assert.equal(got.cursor, got.messages.at(-1)?.id ?? '');
      return items;
    }
    assert.match(got.cursor, /^msg_[0-9a-hjkmnp-tv-z]{26}$/);
    assert.ok(from === undefined || from === '' || got.cursor < from, 'the walk goes on');
    from = got.cursor;
  }
}

export const ids = (items: readonly { readonly id: string }[]) => items.map((item) => item.id);

/** True if the item matches every filter. */
export const fits = (item: Item, filters: Filters) =>
  (['from', 'to', 'status', 'direction'] as const).every(
    (name) => filters[name] === undefined || filters[name] === item[name],
  );
