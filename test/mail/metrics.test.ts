import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { queueMail } from '#server/mail/queue-mail.ts';
import { givenMailService } from '#test/support/mail/given-mail-service.ts';
import { until } from '#test/support/service/until.ts';

const message = { subject: 'Hello', heading: 'Hello', paragraphs: ['Hello.'] };

describe('mail in GET /metrics (specification section 10.4)', () => {
  const { mail: server, service } = givenMailService({ METRICS_TOKEN: 'a-token' });

  const figures = async () => {
    const text = await (
      await fetch(`${service.baseUrl}/metrics`, { headers: { authorization: 'Bearer a-token' } })
    ).text();
    const figure = (name: string) => {
      const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.split(' ')[1]);
    };
    return {
      queued: figure('ownline_mails_queued'),
      oldest: figure('ownline_mails_oldest_seconds'),
      ended: ['sent', 'failed', 'given_up'].map((end) => figure(`ownline_mail_attempts_total{end="${end}"}`)),
      text,
    };
  };
  const queue = (to: string) =>
    service.runtime.database.transaction((trx) => queueMail(trx, service.runtime, { to, message }));
  const ended = (expected: readonly number[]) =>
    until(`attempts came to ${expected}`, async () => String((await figures()).ended) === String(expected));

  it('/metrics counts mail attempts by outcome, and shows how many mails wait and for how long', async () => {
    const { queued, oldest, ended: first } = await figures();
    assert.deepEqual([queued, oldest, first], [0, 0, [0, 0, 0]]);
    await queue('ada@example.com');
    await ended([1, 0, 0]);
    server.behave({ refuse: 450, at: 'recipient' });
    await queue('alan@example.com');
    await ended([1, 1, 0]);
    // The query's result is cached for five seconds.
    service.clock.advance(6_000);
    const waiting = await figures();
    assert.equal(waiting.queued, 1);
    assert.ok(
      waiting.oldest !== undefined && waiting.oldest >= 6 && waiting.oldest < 60,
      String(waiting.oldest),
    );
    server.behave({ refuse: 550, at: 'recipient' });
    service.clock.advance(60_000);
    await ended([1, 1, 1]);
    service.clock.advance(6_000);
    const { text, ...after } = await figures();
    assert.deepEqual([after.queued, after.oldest], [0, 0]);
    assert.ok(!text.includes('example.com'));
  });
});
