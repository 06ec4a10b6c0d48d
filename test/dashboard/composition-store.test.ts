import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { CompositionStore, countCharacters } from '../../web/conversations/composition-store.ts';

const conversation = '+14155550100 +14155550142';
const refusal = new Error('refused');
const loss = new Error('lost');

describe('drafts and sends of the dashboard', () => {
  let compositions: CompositionStore;
  let keys: number;
  beforeEach(() => {
    keys = 0;
    compositions = new CompositionStore(
      () => {
        keys += 1;
        return String(keys);
      },
      (error) => error === loss,
    );
  });
  const textOf = () => compositions.get(conversation).draft.text;

  /** Starts a send, types `typed` before the answer, and then ends the request, with `error` if there is one. */
  async function sendWhileTyping(typed: string, error?: Error) {
    const answer = Promise.withResolvers<void>();
    const sending = compositions.send(conversation, () => answer.promise);
    compositions.write(conversation, { text: typed });
    if (error) answer.reject(error);
    else answer.resolve();
    return sending;
  }

  it('text that is typed while a message is sent becomes the next draft', async () => {
    compositions.write(conversation, { text: 'First' });
    assert.equal(await sendWhileTyping('Second'), 'sent');
    assert.deepEqual(compositions.get(conversation), { draft: { text: 'Second' } });
  });

  it('sending a failed message again leaves the draft unchanged, and a refusal puts the message’s text before the draft', async () => {
    compositions.write(conversation, { text: 'Meanwhile' });
    const sent: string[] = [];
    const accept = async ({ text }: { readonly text: string }) => void sent.push(text);
    assert.equal(await compositions.send(conversation, accept, { text: 'The first try' }), 'sent');
    assert.deepEqual([sent, textOf()], [['The first try'], 'Meanwhile']);
    const refuse = () => Promise.reject(refusal);
    assert.equal(await compositions.send(conversation, refuse, { text: 'The first try' }), 'refused');
    assert.equal(textOf(), 'The first try\nMeanwhile');
    const lose = () => Promise.reject(loss);
    assert.equal(await compositions.send(conversation, lose), 'unanswered');
    assert.equal(await compositions.send(conversation, accept, { text: 'Another' }), undefined);
    assert.equal(sent.length, 1, 'the unanswered message comes first');
  });

  it('the text of a refused message is put before text typed meanwhile, and its error stays until the text changes', async () => {
    compositions.write(conversation, { text: 'First', mediaUrl: 'https://example.com/menu.pdf' });
    assert.equal(await sendWhileTyping('Second', refusal), 'refused');
    const { draft, error } = compositions.get(conversation);
    assert.deepEqual(draft, { text: 'First\nSecond', mediaUrl: 'https://example.com/menu.pdf' });
    assert.equal(error, refusal);
    compositions.write(conversation, { text: 'Another' });
    assert.deepEqual(compositions.get(conversation), {
      draft: { text: 'Another' },
      outgoing: undefined,
      error: undefined,
    });
  });

  it('a message whose send got no answer keeps its text and its Idempotency-Key for further tries', async () => {
    const tries: string[] = [];
    const lose = async (message: { readonly text: string }, key: string) => {
      tries.push(`${key} ${message.text}`);
      throw loss;
    };
    compositions.write(conversation, { text: 'First' });
    assert.equal(await compositions.send(conversation, lose), 'unanswered');
    compositions.write(conversation, { text: 'Second' });
    assert.equal(await compositions.send(conversation, lose), 'unanswered');
    assert.deepEqual(tries, ['1 First', '1 First']);
    assert.equal(textOf(), 'Second');
    compositions.takeBack(conversation);
    assert.equal(textOf(), 'First\nSecond');
    await compositions.send(conversation, lose);
    assert.equal(tries[2], '2 First\nSecond', 'another message');
    compositions.forget(conversation);
    assert.deepEqual(compositions.get(conversation), { draft: { text: '' } });
  });

  it('a conversation sends one message at a time, and the page is notified of each change', async () => {
    let changes = 0;
    const end = compositions.subscribe(conversation, () => {
      changes += 1;
    });
    assert.ok(compositions.isShown(conversation));
    compositions.write(conversation, { text: 'First' });
    const answer = Promise.withResolvers<void>();
    const sending = compositions.send(conversation, () => answer.promise);
    assert.equal(await compositions.send(conversation, async () => assert.fail()), undefined);
    answer.resolve();
    await sending;
    assert.equal(changes, 3);
    end();
    assert.ok(!compositions.isShown(conversation));
  });

  it('the composer counts characters as the API does', () => {
    assert.equal(countCharacters('a👍é'), 3);
  });
});
