import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { linkCommand } from '#server/accounts/other-ways.ts';

describe('the command that makes a link to sign in (specification section 12.1)', () => {
  it('gives a shell the address and nothing to act on, whoever chose it', () => {
    const addresses = [
      'ada@example.com',
      'ada.b+c_d-e@mail.example.com',
      "o'hara@example.com",
      'x|id@example.com',
      'a&b@example.com',
      '$IFS@example.com',
      '$(id)@example.com',
      '`id`@example.com',
      'a{b,c}@example.com',
      '~root@example.com',
    ];
    for (const email of addresses) {
      const words = linkCommand(email).replace('npm run ownline --', 'printf "%s\\n"');
      const printed = execFileSync('sh', ['-c', words], { encoding: 'utf8' });
      assert.deepEqual(printed.trimEnd().split('\n'), ['link', '--email', email]);
    }
    assert.equal(linkCommand('ada@example.com'), 'npm run ownline -- link --email ada@example.com');
  });
});
