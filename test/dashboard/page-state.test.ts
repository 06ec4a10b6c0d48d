import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { until } from '#test/support/service/until.ts';
import { keyOf, readSearch, textOf, writeSearch } from '../../web/api/search-parameters.ts';
import { reread } from '../../web/live/reread.ts';

describe('state that the pages keep', () => {
  it('digits in the address of a page stay text, and each address is read back as it was written', () => {
    assert.deepEqual(readSearch('?contact=12345&unread=true'), { contact: '12345', unread: true });
    const search = { contact: '+14155550142', status: 'failed', connect: true };
    assert.deepEqual(readSearch(writeSearch(search)), search);
    assert.equal(writeSearch({ status: undefined }), '');
  });

  it('a value in the address that the page does not know is ignored', () => {
    const statuses = { failed: 'Failed' };
    const known = ['failed', 'Failed', 'toString', true, undefined].map((value) => keyOf(statuses, value));
    assert.deepEqual(known, ['failed', undefined, undefined, undefined, undefined]);
    const texts = ['+14155550142', '', false].map((value) => textOf(value));
    assert.deepEqual(texts, ['+14155550142', undefined, undefined]);
  });

  it('change notifications during a read cause one more read after it, even during the first read', async (test) => {
    const client = new QueryClient();
    test.after(() => client.clear());
    const answers: ((answer: number) => void)[] = [];
    const queryKey = ['team', 'message', 'log'];
    const observer = new QueryObserver(client, {
      queryKey,
      queryFn: () => new Promise<number>((resolve) => answers.push(resolve)),
    });
    test.after(observer.subscribe(() => undefined));
    const endRead = async (answer: number) => {
      answers.at(-1)?.(answer);
      await until('it is shown', () => client.getQueryData(queryKey) === answer);
    };
    const begun = (count: number) => until(`${count} reads began`, () => answers.length === count);
    await begun(1);
    reread(client, ['team', 'message']);
    await endRead(1);
    await begun(2);
    for (let n = 0; n < 3; n += 1) reread(client, ['team']);
    reread(client, ['team', 'number']);
    await endRead(2);
    await begun(3);
    await endRead(3);
    assert.deepEqual([answers.length, client.isFetching()], [3, 0]);
  });
});
