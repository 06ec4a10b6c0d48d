import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from './spawned-service.ts';

/** The code blocks of a document by the words after their three backticks, such as `sh send`. */
export class PageBlocks {
  readonly #path: string;
  readonly #blocks: readonly { readonly name: string; readonly text: string }[];

  private constructor(path: string, page: string) {
    this.#path = path;
    this.#blocks = [...page.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].map(([, name = '', text = '']) => ({
      name,
      text,
    }));
  }

  /** @param path from the root of the repository */
  static async read(path: string): Promise<PageBlocks> {
    return new PageBlocks(path, await readFile(join(repository, path), 'utf8'));
  }

  /** The texts of all code blocks with this name, at least one. */
  all(name: string): readonly [string, ...string[]] {
    const [first, ...others] = this.#blocks.filter((block) => block.name === name).map(({ text }) => text);
    assert.ok(first, `${this.#path} has no block "${name}"`);
    return [first, ...others];
  }

  /** The text of the only code block with this name. */
  one(name: string): string {
    const [first, ...others] = this.all(name);
    assert.equal(others.length, 0, `${this.#path} has one block "${name}"`);
    return first;
  }
}

/**
 * Replaces ids, times, waits, secrets and addresses in an answer of the API by their kind, because they differ in
 * each run. Then the answer in a document and a real one are equal if they have the same fields, order and values.
 */
export function printedShape(json: string): string {
  return JSON.stringify(JSON.parse(json))
    .replaceAll(/"(team|key|num|msg|evt|wh|dlv)_[0-9a-z]{26}"/g, '"$1_id"')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'time')
    .replaceAll(/Retry in \d+ seconds?/g, 'Retry in n seconds')
    .replaceAll(/"whsec_[\w+/]{43}="/g, '"secret"')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://address');
}
