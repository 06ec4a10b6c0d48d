import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { assertEach } from '#test/support/service/assert-each.ts';
import { catalogue } from '../../web/kit/catalogue.ts';

const texts = catalogue(
  {
    title: 'Messages',
    groups: { 'of {name}': 'Messages of {name}' },
    'waiting {count}': { one: 'One message waits', other: '{count} messages wait' },
    'ends {at} {count}': 'It ends {at}, with {count}',
    'from {name}': '**From {name}** to {name}',
  },
  'en',
);

describe('the catalogue of texts', () => {
  it('a text gets its values filled in, and numbers formatted for the language', () => {
    assert.deepEqual(
      [texts.title, texts.groups.of({ name: '{at}' }), texts.ends({ at: 'now', count: 1_234 })],
      ['Messages', 'Messages of {at}', 'It ends now, with 1,234'],
    );
  });

  it('a text has the plural form of the count and the language', () => {
    const polish = catalogue({ 'days {count}': { one: 'dzień', few: 'dni', other: 'dnia' } }, 'pl');
    assertEach([1, 2], (count) => texts.waiting({ count }), ['One message waits', '2 messages wait']);
    assertEach([1, 3, 1.5], (count) => polish.days({ count }), ['dzień', 'dni', 'dnia']);
  });

  it('a text accepts elements as values', () => {
    const sentence = texts.ends({ at: createElement('b', null, 'now'), count: 2 });
    assert.equal(renderToStaticMarkup(sentence), 'It ends <b>now</b>, with 2');
  });

  it('with elements as values, words between ** are bold in the text only', () => {
    const sentence = texts.from({ name: createElement('bdi', null, '**a**') });
    const name = '<bdi>**a**</bdi>';
    assert.equal(renderToStaticMarkup(sentence), `<b>From ${name}</b> to ${name}`);
  });

  it('does not compile with a wrong key, or with a value missing or too many', () => {
    // @ts-expect-error a wrong key
    texts.subtitle;
    // @ts-expect-error a missing value
    texts.ends({ at: 'now' });
    // @ts-expect-error one value too many
    texts.waiting({ count: 1, at: 'now' });
  });
});
