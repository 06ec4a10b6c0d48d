import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storedAuditEntries } from '#test/support/audit/stored-audit-entries.ts';
import { putFailedMessages } from '#test/support/messages/given-many-messages.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';
import { uuidOf } from '#test/support/webhooks/make-webhooks.ts';

const ada = '+447911123456';
const ben = '+447911123457';
/** The recipient of the messages that `putFailedMessages` inserts. */
const contactOfMany = '+14155550101';

describe('ownline erase (specification section 12.14)', () => {
  // This service runs no erasures in the background, so that the command does all the work.
  const service = givenService({ ROLES: 'api' });
  const team = given(() => service.newTeam());
  const number = given(() => connectNumber(service, team));
  const commands = given(() => new CommandLine(service.dataDir, { DATABASE_URL: service.databaseUrl }));

  const erase = (contact: string, ...options: string[]) =>
    commands.run(['erase', '--team', team.publicId, '--contact', contact, ...options]);
  const send = (to: string) => team.api.send({ from: number.phoneNumber, to, content: 'Hello' });
  const messagesTo = async (to: string) =>
    (await team.api.get(`/v1/messages?to=${encodeURIComponent(to)}`)).json.messages;
  const erasures = async () =>
    (await storedAuditEntries(service, { teamId: team.id })).filter(
      ({ action }) => action === 'contact.erased',
    );

  it('ownline erase --dry-run only counts and changes nothing, and an erasure without --yes requires a terminal (§12.14/erase)', async () => {
    await send(ada);
    const counted = await erase(ada, '--dry-run');
    assert.deepEqual([counted.code, counted.errors], [0, '']);
    assert.equal(
      counted.output,
      [
        'messages   1',
        'waiting    1',
        'in_flight  0',
        'files      0',
        'events     0',
        'opted_out  false',
        'status     dry_run',
        '',
      ].join('\n'),
    );
    const refused = await erase(ada);
    assert.deepEqual([refused.code, refused.output], [1, '']);
    assert.equal(
      refused.errors,
      'Erasing can’t be undone, and there is no terminal to ask on. Repeat the command with --yes to confirm.\n',
    );
    assert.deepEqual(await erasures(), []);
  });

  it('ownline erase --yes erases all spellings of a contact, with the operator as the actor (§12.14/erase)', async () => {
    await send(ben);
    const { code, output, errors } = await erase('+4407911123457', '--yes', '--json');
    assert.deepEqual([code, errors], [0, '']);
    const { messages, waiting, status } = JSON.parse(output);
    assert.deepEqual([messages, waiting, status], [1, 1, 'erased']);
    assert.deepEqual(await messagesTo(ben), []);
    const [entry] = await erasures();
    assert.deepEqual([entry?.actorKind, entry?.target], ['operator', '']);
  });

  it('ownline erase reports that a message in flight at an iPhone is erased later (§12.14/erased-in-flight)', async () => {
    await send(ada);
    assert.equal((await number.wire.poll()).action, 'send');
    const { code, output, errors } = await erase(ada, '--yes');
    assert.equal(code, 0);
    assert.match(output, /^in_flight {2}1$/m);
    assert.match(output, /^status {5}running$/m);
    assert.match(
      errors,
      /^Not everything is erased yet, for example because an iPhone has a message of this contact\./,
    );
  });

  it('ownline erase counts messages up to 10,000, and shows larger counts as more than that (§12.14/erase)', async () => {
    const failed = { count: 10_050, atMs: service.clock.nowMs() - 60_000 };
    await putFailedMessages(
      service,
      { teamId: team.id, ...number, numberId: uuidOf('num', number.numberId) },
      failed,
    );
    const { output } = await erase(contactOfMany, '--dry-run');
    assert.match(output, /^messages {3}more than 10,000$/m);
  });

  it('ownline erase refuses an unknown team and a text that is no handle, with advice (§12.14/erase)', async () => {
    const of = (team: string, contact: string) =>
      commands.run(['erase', '--team', team, '--contact', contact, '--yes']);
    for (const [id, contact, error] of [
      [
        'team_01h2xcejqtf2nbrexx3vqjhp41',
        ada,
        /^There is no team team_01h2xcejqtf2nbrexx3vqjhp41\. `npm run/,
      ],
      ['example', ada, /^"example" is not a team id; one looks like team_/],
      [team.publicId, '', /^contact must have 1 to 320 characters/],
    ] as const) {
      const { code, output, errors } = await of(id, contact);
      assert.deepEqual([code, output], [1, ''], errors);
      assert.match(errors, error);
    }
  });
});
