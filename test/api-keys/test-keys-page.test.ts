import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { testLine, testOutcomeOf, testOutcomes } from '#contract/test-line.ts';
import { PageBlocks } from '#test/support/processes/page-blocks.ts';
import { repository } from '#test/support/processes/spawned-service.ts';
import { assertEach } from '#test/support/service/assert-each.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { newTestClient } from '#test/support/service/test-client.ts';

const run = promisify(execFile);

describe('docs/test-keys.md', () => {
  const service = givenService({ PACING: 'gentle' });

  it('the CI program on the page about test keys runs as printed (§5.4/test-key)', async () => {
    const page = await PageBlocks.read('docs/test-keys.md');
    const { key } = await newTestClient(service);
    const env = { ...process.env, OWNLINE: service.baseUrl, KEY: key };
    const program = ['--input-type=module', '-e', page.one('js ci')];
    const { stdout } = await run(process.execPath, program, { env });
    assert.deepEqual(stdout.trim().split('\n'), [
      '+15005550101: delivered',
      '+15005550127: device_error',
      '+15005550128: not_delivered',
    ]);
  });

  it('the page about test keys lists the recipient that produces each outcome', async () => {
    const page = await readFile(join(repository, 'docs/test-keys.md'), 'utf8');
    const recipients = [...page.matchAll(/^\| `(\+\d+)` \|.*`(\w+)`.* \|$/gm)].map(
      ([, to = '', last = '']) => [to, last],
    );
    const area = testLine.slice(0, -2);
    const codes = Object.entries(testOutcomes).sort();
    assertEach(
      recipients,
      ([to]) => to,
      codes.map(([digits]) => `${area}${digits}`),
    );
    for (const [to = '', last = ''] of recipients.slice(-8)) assert.equal(last, testOutcomeOf(to), to);
  });
});
