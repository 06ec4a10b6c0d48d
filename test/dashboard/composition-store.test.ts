import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import {
  type Composition,
  CompositionStore,
  countCharacters,
  type Outcome,
  type Outgoing,
} from '../../web/conversations/composition-store.ts';

const conversation = 'team_1 +14155550100 +14155550142';
const refusal = new Error('refused');
const loss = new Error('lost');
const answered = new Error('answered');
const tooLate = new Error('too late');
const hourMs = 3_600_000;

describe('drafts and sends of the dashboard', () => {
  let compositions: CompositionStore;
  let now: number;
  let keys: number;
  /** The messages that the server got, in order. */
  let sent: Outgoing[];
  let ended: Outcome[];
  /** The composition that the next page finds. */
  let kept: Composition | undefined;
  /** The answer of a colleague; null while it is being sent. */
  let meanwhile: NonNullable<Outgoing['meanwhile']> | null;
  /** How the server answers the next sends; then it accepts. */
  let answers: (Error | Promise<unknown>)[];

  const open = (saved?: Composition) =>
    new CompositionStore(
      {
        newKey: () => {
          keys += 1;
          return String(keys);
        },
        nowMs: () => now,
        accept: async (_conversation, outgoing) => {
          sent.push(outgoing);
          const answer = answers.shift();
          if (answer instanceof Error) throw answer;
          await answer;
          return { id: `msg_${sent.length}` };
        },
        judge: (error) => (error === loss ? 'lost' : error === answered ? { message: meanwhile } : 'refused'),
        ended: (_conversation, outcome) => ended.push(outcome),
        tooLate: () => tooLate,
        save: (_conversation, composition) => {
          kept = composition;
        },
      },
      saved && [[conversation, saved]],
    );
  beforeEach(() => {
    [now, keys, sent, ended, answers, kept, meanwhile] = [0, 0, [], [], [], undefined, null];
    compositions = open();
  });
  const write = (text: string) => compositions.write(conversation, { text });
  const send = (text: string) => {
    write(text);
    return compositions.send(conversation);
  };
  const textOf = () => compositions.get(conversation).draft.text;
  const states = () => compositions.get(conversation).outgoing.map(({ state }) => state);
  const tries = () => sent.map(({ idempotencyKey, message }) => `${idempotencyKey} ${message.text}`);

  it('texts that are sent while one is on its way follow it in their order, one at a time (§12.4/repeated-replies)', async () => {
    const first = Promise.withResolvers<void>();
    answers = [first.promise];
    const sending = [send('First'), send('Second'), send('Third')];
    write('Typed meanwhile');
    assert.deepEqual([states(), tries()], [['sending', 'queued', 'queued'], ['1 First']]);
    first.resolve();
    await Promise.all(sending);
    assert.deepEqual(tries(), ['1 First', '2 Second', '3 Third']);
    assert.deepEqual([textOf(), states()], ['Typed meanwhile', ['accepted', 'accepted', 'accepted']]);
    compositions.show(conversation, 'msg_2');
    assert.deepEqual(states(), ['accepted'], 'the list shows two of them');
    assert.deepEqual(compositions.texts(), ['Typed meanwhile']);
  });

  it('a refusal returns its text and those behind it to the draft, and its error stays until the text changes', async () => {
    const first = Promise.withResolvers<void>();
    answers = [first.promise];
    const sending = [send('First'), send('Second')];
    write('Third');
    first.reject(refusal);
    await Promise.all(sending);
    assert.deepEqual([textOf(), states(), ended], ['First\nSecond\nThird', [], ['refused']]);
    assert.equal(compositions.get(conversation).error, refusal);
    write('Another');
    assert.equal(compositions.get(conversation).error, undefined);
  });

  it('sending a failed message again leaves the draft unchanged, and a refusal puts its text before the draft', async () => {
    write('Meanwhile');
    await compositions.send(conversation, { text: 'The first try' });
    assert.deepEqual([tries(), textOf()], [['1 The first try'], 'Meanwhile']);
    answers = [refusal];
    await compositions.send(conversation, { text: 'The first try' });
    assert.equal(textOf(), 'The first try\nMeanwhile');
  });

  it('a message without an answer is repeated with its key before what was sent after it (§12.4/repeated-replies)', async () => {
    answers = [loss, loss];
    await send('First');
    await send('Second');
    assert.deepEqual([states(), ended, textOf()], [['unanswered', 'queued'], ['unanswered'], '']);
    await compositions.resume(conversation);
    assert.deepEqual(tries(), ['1 First', '1 First']);
    await compositions.resume(conversation);
    assert.deepEqual(tries(), ['1 First', '1 First', '1 First', '2 Second']);
  });

  it('a message without an answer for an hour returns to the draft, with the reason', async () => {
    answers = [loss];
    await send('First');
    now = hourMs + 1;
    await compositions.resume(conversation);
    assert.deepEqual([textOf(), sent.length, ended], ['First', 1, ['unanswered', 'refused']]);
    assert.equal(compositions.get(conversation).error, tooLate);
  });

  it('a reply to what a colleague answered meanwhile waits for the person, who sends it anyway or keeps it', async () => {
    compositions.see(conversation, 'msg_0', null);
    answers = [answered];
    await send('First');
    await send('Second');
    assert.deepEqual([states(), sent[0]?.seenId, ended], [['answered', 'queued'], 'msg_0', ['answered']]);
    await compositions.sendAnyway(conversation);
    assert.deepEqual(tries(), ['1 First', '1 First', '2 Second']);
    assert.deepEqual(
      sent.map(({ isAnyway }) => isAnyway),
      [undefined, true, undefined],
    );
    compositions.keepAsDraft(conversation);
    assert.equal(textOf(), '', 'it was sent');
    answers = [answered];
    await send('Third');
    compositions.keepAsDraft(conversation);
    assert.equal(textOf(), 'Third');
  });

  it('a yes concerns the answer that the person read, and one that is being sent only once (§12.4/one-answer)', async () => {
    compositions.see(conversation, 'msg_00', 'msg_00');
    answers = [answered, loss, answered];
    await send('First');
    await compositions.sendAnyway(conversation);
    assert.equal(kept?.outgoing[0]?.isAnyway, false, 'the next page has no yes');
    meanwhile = { id: 'msg_05' } as NonNullable<typeof meanwhile>;
    await compositions.resume(conversation);
    assert.deepEqual([states(), ended.at(-1)], [['answered'], 'answered']);
    await compositions.sendAnyway(conversation);
    const tried = sent.map(({ seenAnswerId, isAnyway }) => [seenAnswerId, isAnyway ?? false]);
    assert.deepEqual(tried, [
      ['msg_00', false],
      ['msg_00', true],
      ['msg_00', false],
      ['msg_05', false],
    ]);
  });

  it('the own replies of a page count as seen by its next ones, also by those that wait (§12.4/one-answer)', async () => {
    compositions.see(conversation, 'msg_0', 'msg_0');
    const first = Promise.withResolvers<void>();
    answers = [first.promise];
    const sending = [send('First'), send('Second')];
    first.resolve();
    await Promise.all(sending);
    await send('Third');
    assert.deepEqual(
      sent.map(({ seenId, seenAnswerId }) => [seenId, seenAnswerId]),
      [
        ['msg_0', 'msg_0'],
        ['msg_0', 'msg_1'],
        ['msg_0', 'msg_2'],
      ],
    );
  });

  it('the next page has draft and messages on their way, and repeats these with their keys', async () => {
    answers = [loss];
    await send('First');
    write('Draft');
    const saved = kept;
    assert.ok(saved);
    compositions = open(saved);
    assert.deepEqual(compositions.texts(), ['First', 'Draft']);
    await compositions.resume(conversation);
    assert.deepEqual(tries(), ['1 First', '1 First']);
    write('');
    assert.equal(kept, undefined, 'nothing is left to keep');
  });

  it('the draft is dropped once the conversation that had messages has none, as after an erasure', () => {
    compositions.see(conversation, null, null);
    write('To a new contact');
    compositions.show(conversation, null);
    assert.equal(textOf(), 'To a new contact');
    compositions.see(conversation, 'msg_1', null);
    compositions.show(conversation, null);
    assert.deepEqual([textOf(), kept], ['', undefined]);
  });

  it('a listener hears of each change until it unsubscribes', async () => {
    let changes = 0;
    const end = compositions.subscribe(conversation, () => {
      changes += 1;
    });
    assert.ok(compositions.isShown(conversation));
    write('First');
    assert.equal(changes, 1);
    end();
    write('Second');
    assert.deepEqual([changes, compositions.isShown(conversation)], [1, false]);
  });

  it('the composer counts characters as the API does', () => {
    assert.equal(countCharacters('a👍é'), 3);
  });
});
