import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryClient } from '@tanstack/react-query';
import { readSearch, writeSearch } from '../../web/api/search-parameters.ts';
import { RowsDuringReads } from '../../web/live/rows-during-reads.ts';

describe('state that the pages keep (specification section 12.12)', () => {
  it('digits in a page’s address stay text, and each address is read back as it was written (§12.12/page-messages)', () => {
    assert.deepEqual(readSearch('?contact=12345&unread=true'), { contact: '12345', unread: true });
    const search = { contact: '+14155550142', status: 'failed', connect: true };
    assert.deepEqual(readSearch(writeSearch(search)), search);
    assert.equal(writeSearch({ status: undefined }), '');
  });

  it('a read that began before a live row does not undo it (§12.9/rows)', async () => {
    const client = new QueryClient();
    const queryKey = ['team', 'message'];
    const apply = (row: string) =>
      client.setQueryData<readonly string[]>(queryKey, (rows = []) => [...new Set([...rows, row])]);
    const during = new RowsDuringReads<string>(client, 'team', apply);
    const answer = Promise.withResolvers<readonly string[]>();
    const read = client.fetchQuery({ queryKey, queryFn: () => answer.promise });
    apply('new');
    during.note('new');
    answer.resolve(['old']);
    await read;
    assert.deepEqual(client.getQueryData(queryKey), ['old', 'new']);
    await client.fetchQuery({ queryKey, queryFn: async () => ['later'] });
    assert.deepEqual(client.getQueryData(queryKey), ['later'], 'only of reads that were under way');
    during.end();
    client.clear();
  });
});
