import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { messageSteps } from '#server/messages/message-status.ts';
import { deliverySteps } from '#server/webhooks/queue/delivery-status.ts';
import { assertNone } from '#test/support/service/assert-each.ts';

const termsMax = 12;

describe('docs/follow-one-message.md', () => {
  const road = readFileSync('docs/follow-one-message.md', 'utf8');

  it('each function that docs/follow-one-message.md links to is declared in the linked file', () => {
    const links = [...road.matchAll(/\[([\w, ]+)\]\(\.\.\/(server\/[^)]+\.ts)\)/g)];
    assert.ok(links.length > 30, `${links.length} links`);
    const missing = links.flatMap(([, names = '', file = '']) => {
      const text = readFileSync(join('.', file), 'utf8');
      return names
        .split(', ')
        .filter((name) => !new RegExp(`export (async )?(function|const|class) ${name}\\b`).test(text))
        .map((name) => `${name} in ${file}`);
    });
    assert.deepEqual(missing, []);
  });

  it('docs/follow-one-message.md names each action of the state tables', () => {
    const actions = [...Object.keys(messageSteps), ...Object.keys(deliverySteps)];
    assertNone(actions, (action) => !new RegExp(`\\b${action}\\b`).test(road));
  });

  it(`a message meets at most ${termsMax} terms of the glossary, and docs/follow-one-message.md has each in bold once`, () => {
    const bold = [...road.matchAll(/\*\*([^*]+)\*\*/g)].map(([, term]) => term);
    const glossary = readFileSync('docs/glossary.md', 'utf8');
    assert.ok(bold.length > 0 && bold.length <= termsMax, `${bold.length} terms`);
    assert.equal(new Set(bold).size, bold.length);
    assertNone(bold, (term) => !glossary.includes(`\n| ${term} |`));
  });
});
