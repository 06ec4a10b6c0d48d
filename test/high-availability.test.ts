import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { repository } from '#test/support/processes/spawned-service.ts';
import { assertEach, assertNone } from '#test/support/service/assert-each.ts';

const folder = join(repository, 'deploy/ha');
const files = globSync(['*', '*/*'], { cwd: folder }).filter((name) =>
  lstatSync(join(folder, name)).isFile(),
);

const addresses = { A: '10.1.0.12', B: '10.1.0.13', C: '10.1.0.11' };
const words = {
  ...addresses,
  NETWORK: '10.1.0.0/24',
  NAME: 'sms.example.com',
  POSTGRES: '17',
  SUPERUSER_PASSWORD: 'word',
  REPLICATION_PASSWORD: 'word',
  REWIND_PASSWORD: 'word',
  OWNLINE_PASSWORD: 'word',
  SECRETS_KEY: 'd29yZA/+=',
  METRICS_TOKEN: 'word',
};

describe('the files of deploy/ha', () => {
  it('docs/high-availability.md lists each of them', () => {
    const [, table = ''] = readFileSync(join(repository, 'docs/high-availability.md'), 'utf8').split(
      '## Files',
    );
    const rows = [...table.matchAll(/^\| (`[^|]+) \|/gm)];
    const listed = rows.flatMap(([, names = '']) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    );
    assertEach(listed.sort(), (name) => name, [...files].sort());
  });

  for (const [MACHINE, own] of Object.entries({ a: addresses.A, b: addresses.B, c: addresses.C }))
    it(`\`adapt\` puts the words of machine ${MACHINE} in the place of all examples`, () => {
      const adapt = (file: string) =>
        execFileSync(join(folder, 'adapt'), [file], {
          encoding: 'utf8',
          env: { ...process.env, ...words, MACHINE },
        });
      assertNone(
        files.filter((name) => !['adapt', 'try', 'keepalived.conf'].includes(name)),
        (name) => /replace-|texts\.example|10\.0\.0|<\d>|sql\/15/.test(adapt(name)),
      );
      assert.match(adapt('ownline.env'), new RegExp(`^HOST=${own}$`, 'm'));
      assert.match(
        adapt('etcd.env'),
        new RegExp(`^ETCD_NAME=${MACHINE}$[^]*PEER_URLS=http://${own}:2380$`, 'm'),
      );
      assert.match(
        adapt('patroni.yml'),
        new RegExp(`^name: ${MACHINE}$[^]* connect_address: ${own}:5432$`, 'm'),
      );
    });
});
