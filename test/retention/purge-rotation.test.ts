import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PurgeEnd } from '#server/database/purge-walk.ts';
import { PurgeRotation } from '#server/operations/history-purge.ts';

describe('the rotation of a purge (specification section 10.9)', () => {
  it('a purge step that never finishes does not delay other steps', async () => {
    const ran: string[] = [];
    const step = (name: string, end: PurgeEnd) => async () => {
      ran.push(name);
      return end;
    };
    const rotation = new PurgeRotation([
      step('messages', 'cut'),
      step('deliveries', 'done'),
      step('events', 'backup'),
      step('conversations', 'done'),
    ]);
    const ends = [];
    for (let round = 0; round < 4; round += 1) ends.push(await rotation.run());
    assert.deepEqual(ends, ['cut', 'backup', 'cut', 'backup']);
    assert.deepEqual(ran, [
      'messages',
      ...['deliveries', 'events'],
      ...['conversations', 'messages'],
      ...['deliveries', 'events'],
    ]);
  });

  it('the rotation of purge steps ends once no step has anything left to purge', async () => {
    let end: PurgeEnd = 'cut';
    const rotation = new PurgeRotation([async () => end, async () => 'done']);
    assert.equal(await rotation.run(), 'cut');
    end = 'done';
    assert.deepEqual([await rotation.run(), await rotation.run()], ['done', 'done']);
  });
});
