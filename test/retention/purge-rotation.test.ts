import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PurgeRotation } from '#server/database/purge-rotation.ts';

describe('the rotation of a purge (specification section 10.9)', () => {
  it('a purge step that never finishes delays no other step', async () => {
    const ran: string[] = [];
    const step = (name: string, isDone: boolean) => async () => {
      ran.push(name);
      return isDone;
    };
    const rotation = new PurgeRotation([
      step('messages', false),
      step('deliveries', true),
      step('events', false),
      step('conversations', true),
    ]);
    for (let round = 0; round < 4; round += 1) assert.equal(await rotation.run(), false);
    assert.deepEqual(ran, [
      'messages',
      ...['deliveries', 'events'],
      ...['conversations', 'messages'],
      ...['deliveries', 'events'],
    ]);
  });

  it('the rotation is finished once no step has anything left to purge', async () => {
    let isDone = false;
    const rotation = new PurgeRotation([async () => isDone, async () => true]);
    assert.equal(await rotation.run(), false);
    isDone = true;
    assert.deepEqual([await rotation.run(), await rotation.run()], [true, true]);
  });
});
