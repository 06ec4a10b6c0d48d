import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listErasures } from '#server/opt-outs/erasure-store.ts';
import { allStoredRowTexts } from '#test/support/database/stored-text.ts';
import { newMember } from '#test/support/people/people.ts';
import { connectNumber } from '#test/support/phones/test-phone.ts';
import { CommandLine } from '#test/support/processes/command-line.ts';
import { given } from '#test/support/service/given.ts';
import { until } from '#test/support/service/until.ts';
import { attemptsOf } from '#test/support/webhooks/stored-deliveries.ts';
import { startWebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { addWebhook, givenWebhookService } from '#test/support/webhooks/webhook-world.ts';

/**
 * Failpoints, each with the pass at which it kills. The batches are: cancelled, sent and received messages, the
 * contact's events, answers.
 */
const kills = ['erasure begun:1', 'erasure batch written:3', 'erasure batch written:4'];

describe('a process that is killed in the middle of an erasure (specification section 12.14)', () => {
  const receiver = given(() =>
    startWebhookReceiver({
      // The receiver's answer repeats the request's body.
      behaviour: (answer, { body }) => void answer.writeHead(200).end(body),
    }),
  );
  // No process of this service erases in the background: each test starts a process that does.
  const service = givenWebhookService({ ROLES: 'api,deliver' });
  const team = given(() => service.newTeam());
  const admin = given(() => newMember(service, team, 'admin'));
  const number = given(() => connectNumber(service, team));
  const webhook = given(() => addWebhook(service.runtime, team.id, receiver.url));

  const erasures = () => listErasures(service.runtime.database.pool, { limit: 10 });
  const tablesWith = async (text: string) => {
    const hex = Buffer.from(text).toString('hex');
    return [...(await allStoredRowTexts(service))].flatMap(([table, rows]) =>
      rows.some((row) => row.includes(text) || row.includes(hex)) ? table : [],
    );
  };

  for (const [index, kill] of kills.entries()) {
    it(`another process completes an erasure after a kill at "${kill}", and sends go out again (§12.14/erased-later)`, async () => {
      const contact = `+4479111234${60 + index}`;
      await number.wire.call('inbound', { from: contact, text: 'A secret' });
      await number.wire.call('inbound', { from: contact, text: 'STOP' });
      await number.wire.call('inbound', { from: contact, text: 'START' });
      await team.api.send({ from: number.phoneNumber, to: contact, content: 'It waits' });
      await until('the receiver has answered', async () => {
        const attempts = await attemptsOf(service, webhook);
        return attempts.length >= 3 * (index + 1);
      });
      const commands = new CommandLine(service.dataDir, {
        DATABASE_URL: service.databaseUrl,
        FAILPOINT: kill,
      });
      const { child, ended } = commands.start([
        'erase',
        '--team',
        team.publicId,
        '--contact',
        contact,
        '--yes',
      ]);
      assert.equal((await ended).output, '');
      assert.equal(child.signalCode, 'SIGKILL');
      assert.equal((await erasures()).length, 1);
      const sent = await team.api.send({ from: number.phoneNumber, to: contact, content: 'Later' });
      assert.equal((await number.wire.poll()).action, 'idle');

      const other = await service.startAnother(undefined, { ROLES: 'maintain' });
      await until('the erasure has ended', async () => (await erasures()).length === 0);
      await other.close();
      const next = await number.wire.poll();
      assert.deepEqual([next.id, next.text], [sent, 'Later']);
      await number.wire.poll({ last: sent });
      const { messages, status } = (await admin.post(admin.in('/erasures'), { contact })).json;
      assert.deepEqual([messages, status], [1, 'erased'], 'only the later message was left');
      assert.deepEqual(await tablesWith(contact), []);
    });
  }
});
