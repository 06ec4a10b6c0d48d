import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SearchResult } from '#contract/search.ts';
import { givenReader, receive } from '#test/support/dashboard/conversations.ts';

const ada = '+14155550901';
const bob = '+14155550902';
const mail = 'ada@example.com';

describe('the search of the dashboard (specification section 12.4)', () => {
  const { team, member, number } = givenReader();
  const search = async (q: string, more = ''): Promise<SearchResult> => {
    const answer = await member.get(member.in(`/search?q=${encodeURIComponent(q)}${more}`));
    assert.equal(answer.status, 200, answer.text);
    return answer.json as unknown as SearchResult;
  };
  /** The contacts of the conversations and the texts of the messages that a search finds. */
  const found = async (q: string) => {
    const { conversations, messages } = await search(q);
    return [conversations.map(({ contact }) => contact), messages.map(({ content }) => content)];
  };

  it('a search finds messages with names, conversations by words of names, and both by last digits (§12.4/search-of-people)', async () => {
    await team.api.post('/v1/contacts', { name: 'Ada Lovelace-Exámple', handles: [ada, mail] });
    await receive(number, ada, 'Hello Bob');
    await receive(number, mail, 'A mail');
    await receive(number, bob, 'Hello Ada');
    assert.deepEqual(await found('exam ADA'), [[ada, mail], []]);
    assert.deepEqual(await found('ada'), [[ada, mail], ['Hello Ada']]);
    assert.deepEqual(await found('ada unknown'), [[], []]);
    assert.deepEqual(await found('0902'), [[bob], ['Hello Ada']]);
    assert.deepEqual(await found('hello'), [[], ['Hello Ada', 'Hello Bob']]);
    const { messages } = await search('hello');
    assert.deepEqual(
      messages.map(({ name, contact_id }) => [name, contact_id?.slice(0, 4)]),
      [
        [null, undefined],
        ['Ada Lovelace-Exámple', 'con_'],
      ],
    );
  });

  it('later pages have no conversations (§12.4/search-of-people)', async () => {
    await team.api.post('/v1/contacts', { name: 'Hello Kitty', handles: [ada] });
    await receive(number, ada, 'Hello 1');
    await receive(number, ada, 'Hello 2');
    const first = await search('hello', '&limit=1');
    assert.deepEqual(
      [first.conversations.length, first.messages[0]?.content, first.has_more],
      [1, 'Hello 2', true],
    );
    const next = await search('hello', `&limit=1&cursor=${first.cursor}`);
    assert.deepEqual([next.conversations, next.messages[0]?.content, next.has_more], [[], 'Hello 1', false]);
  });
});
