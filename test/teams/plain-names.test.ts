import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { operator } from '#server/platform/actor.ts';
import { createTeam } from '#server/teams/team/team.ts';
import { assertRefused } from '#test/support/people/invite.ts';
import { newMember } from '#test/support/people/people.ts';
import { given } from '#test/support/service/given.ts';
import { givenTeam } from '#test/support/service/given-team.ts';

const hidden = [
  ...['\n', '\t', '\u001b', '\u007f', '\u0085', '\u200e', '\u200f'],
  ...['\u061c', '\u2028', '\u202e', '\u2066', '\u2069'],
];
const plain = ['Büro Süd', 'שלום', 'مكتب', '👩‍👩‍👧 family', 'a\u00a0b'];

describe('names are one line that reads as it was written (specification section 2.1)', () => {
  let numberId: string;
  const { service, team } = givenTeam();
  const owner = given(() => newMember(service, team, 'owner'));
  before(async () => {
    await team.api.post('/v1/numbers/verify', { phone_number: '+14155550100' });
    const [number] = (await team.api.get('/v1/numbers')).json.numbers as { id: string }[];
    numberId = number?.id ?? '';
  });

  it('every name field accepts every script, and refuses control characters and direction marks with 400 and the field (§2.1/characters)', async () => {
    const fields = {
      'a team': { param: 'name', send: (name: string) => team.api.put('/v1/team', { name }) },
      'a number': {
        param: 'label',
        send: (label: string) => team.api.put(`/v1/numbers/${numberId}`, { label }),
      },
      'a person': { param: 'name', send: (name: string) => owner.put('/app/account', { name }) },
      'a key': {
        param: 'name',
        send: (name: string) => owner.post(owner.in('/keys'), { name, permissions: ['messages:read'] }),
      },
    };
    for (const [what, { param, send }] of Object.entries(fields)) {
      for (const character of hidden) {
        const answer = await send(`a${character}b`);
        assertRefused(answer, 400, 'invalid_request', param);
        assert.match(answer.text, /has U\+[0-9A-F]{4}\. Leave that character out/);
      }
      for (const name of plain) assert.ok((await send(name)).status < 300, `${what} ${name}`);
    }
  });

  it('the command line refuses control characters and direction marks in names', async () => {
    await assert.rejects(
      service.runtime.database.transaction((trx) =>
        createTeam(trx, service.runtime, { name: 'a\u202eb', plan: 'free', by: operator }),
      ),
      /name must be one line .* U\+202E/,
    );
  });
});
