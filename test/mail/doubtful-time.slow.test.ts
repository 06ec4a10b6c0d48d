import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startMailServer } from '#test/support/mail/mail-server.ts';
import { startMailing } from '#test/support/mail/mail-world.ts';
import { newMember } from '#test/support/people/people.ts';
import { startSteppingService, untilStep } from '#test/support/service/stepping-service.ts';

const dayMs = 86_400_000;

it('while a clock step is held, an old or expired mail is sent instead of given up (specification section 10.7)', async (t) => {
  const server = await startMailServer();
  let step = async (_aheadMs: number) => {};
  const mailing = await startMailing({ SMTP_URL: server.url }, async (settings) => {
    const stepping = await startSteppingService(settings);
    step = stepping.step;
    return stepping;
  });
  const { service } = mailing;
  t.after(() => mailing.close());
  t.after(() => server.close());
  await mailing.queue('old@example.com', 'silently');
  const owner = await newMember(service, await service.newTeam(), 'owner');
  const invited = { email: 'over@example.com', role: 'viewer' };
  assert.equal((await owner.post(owner.in('/team/members/invite'), invited)).status, 201);
  await step(dayMs);
  await untilStep(service.baseUrl, dayMs / 1_000);
  service.clock.advance(30 * dayMs);
  mailing.start();
  const recipients: string[] = [];
  while (recipients.length < 2) recipients.push(...(await server.next()).to);
  assert.deepEqual(recipients.sort(), ['old@example.com', 'over@example.com']);
  assert.ok((await mailing.attempted('old@example.com', 1)).sentAt);
});
