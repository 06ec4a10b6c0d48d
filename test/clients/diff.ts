import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { breakingChanges } from '#test/support/http/api-diff.ts';
import { repository } from '#test/support/processes/spawned-service.ts';

/**
 * `npm run api-diff -- COMMIT`: names each change of the API since a commit that may break a program. The default is the
 * last release: its tag, or the commit that set the version in package.json. It compares clients/openapi.json; a test
 * checks that this file is the served document.
 */
const file = 'clients/openapi.json';

/** Runs git. @returns its output; undefined if it fails */
function git(...words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', words, {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return status === 0 ? stdout.trim() : undefined;
}

const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
const base =
  process.argv[2] ??
  git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*') ??
  git('log', '-1', '--format=%H', `-S"version": "${version}"`, '--', 'package.json');
if (!base) console.log('No commit of this clone is a release, so nothing is compared.');
else if (git('rev-parse', '--verify', '--quiet', `${base}^{commit}`) === undefined) {
  console.error(`${base} is no commit of this repository.`);
  process.exitCode = 1;
} else {
  const before = git('show', `${base}:${file}`);
  if (before === undefined) console.log(`${base} has no ${file}, so nothing is compared.`);
  else {
    const now = readFileSync(join(repository, file), 'utf8');
    const changes = breakingChanges(JSON.parse(before), JSON.parse(now));
    console.log([...changes, `${changes.length} breaking changes since ${base}`].join('\n'));
    process.exitCode = changes.length === 0 ? 0 : 1;
  }
}
