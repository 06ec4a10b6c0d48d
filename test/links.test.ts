import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { repository } from '#test/support/processes/spawned-service.ts';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');
const documents = globSync(
  ['docs/**/*.md', '{bench,campaign,referees}/README.md', 'clients/*/README.md', '*.md'],
  { cwd: repository },
);

/** The anchors that GitHub makes for headings. Those of repeated headings are left out. */
const anchorsOf = (path: string) =>
  new Set(
    [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .replace(/<!--.*?-->/g, '')
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    ),
  );

describe('the links of documents', () => {
  const links = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ path, target })),
  );

  it('the links of documents lead to files and headings that exist', () => {
    assert.ok(links.length > 50);
    const broken = links.filter(({ path, target }) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [file = '', anchor] = target.split('#');
      const found = file === '' ? path : normalize(join(dirname(path), file));
      if (!existsSync(join(repository, found))) return true;
      return anchor !== undefined && !anchorsOf(found).has(anchor);
    });
    assert.deepEqual(broken, []);
  });
});
