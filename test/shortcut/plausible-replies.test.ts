import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findKeyword } from '#server/opt-outs/keyword.ts';
import { PlausibleReplies, plausibleReply } from '#simulated-phone/plausible-replies.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

const texts = [
  ['Your code is 482913.', 'Thanks, the code works.'],
  ['Your table is ready at 7 pm.', 'Thanks for letting me know. See you then!'],
  ['Reminder: your appointment is tomorrow.', 'Thanks for letting me know. See you then!'],
  ['Your package has shipped.', 'Thanks! When will it arrive?'],
  ['We have received your payment.', 'Thanks, I got it.'],
  ['Read more: https://example.com/news', 'Thanks, I will have a look.'],
  ['Does Friday suit you?', 'Yes, that works for me. Thanks for asking!'],
  ['Hello from Ownline', 'Hi! Thanks for your message.'],
  ['Thank you for the visit.', 'You are welcome!'],
  ['Lorem ipsum', 'Thanks for your message!'],
  ['', 'Thanks for your message!'],
] as const;

describe('the replies to a simulated phone (specification section 12.13)', () => {
  it('replies fit the text that was sent, and none of them is an opt-out or opt-in keyword', () => {
    for (const [text, reply] of texts) {
      assert.equal(plausibleReply({ text, hasFile: false }), reply, text);
      assert.equal(findKeyword(reply), undefined, reply);
    }
    assert.equal(plausibleReply({ text: 'Lorem ipsum', hasFile: true }), 'Thanks for sending this!');
  });

  it('a simulated contact sends at most five replies an hour, and all contacts of a phone together 60', () => {
    const replies = new PlausibleReplies();
    const hourMs = 3_600_000;
    const ask = (to: string, atMs: number) => replies.next({ to, text: 'Hello', hasFile: false }, atMs);
    const first = Array.from({ length: 7 }, (_, n) => ask('+14155550101', n));
    assertEach(first, (reply) => reply !== undefined, [true, true, true, true, true, false, false]);
    assert.ok(ask('+14155550101', hourMs), 'an hour after the first one');
    assert.equal(ask('+14155550101', hourMs), undefined);
    const others = Array.from({ length: 80 }, (_, n) => ask(`contact-${n}`, hourMs));
    assert.equal(others.filter((reply) => reply !== undefined).length, 55);
  });
});
