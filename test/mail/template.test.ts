import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type MailContent, renderMail } from '#server/mail/mail-template.ts';

const plain: MailContent = {
  subject: 'Sign in to Ownline',
  heading: 'Sign in',
  paragraphs: ['Open the link to sign in.', 'It works once.'],
  action: { label: 'Sign in', url: 'https://texts.example.com/sign-in/abc' },
  footnote: 'If it was not you, do nothing.',
};

describe('the template of mails (specification section 10.6)', () => {
  it('the text part has one line per statement, and the link on its own line', () => {
    assert.equal(
      renderMail(plain).text,
      'Sign in\n\nOpen the link to sign in.\n\nIt works once.\n\nSign in:\nhttps://texts.example.com/sign-in/abc\n\n' +
        'If it was not you, do nothing.\n',
    );
    const least = renderMail({ subject: 'Hello', heading: 'Hello', paragraphs: [] });
    assert.equal(least.text, 'Hello\n');
    assert.ok(!least.html.includes('<a '));
  });

  it('the HTML part has a language, title and heading for screen readers, and shows its link as text too', () => {
    const { html } = renderMail(plain);
    assert.match(html, /^<!doctype html>\n<html lang="en">/);
    assert.match(html, /<title>Sign in to Ownline<\/title>/);
    assert.match(html, /<div class="mail" lang="en" role="article" aria-roledescription="email"/);
    assert.equal(html.match(/<h1>/g)?.length, 1);
    assert.equal(html.match(/href="https:\/\/texts\.example\.com\/sign-in\/abc"/g)?.length, 2);
    assert.match(html, />https:\/\/texts\.example\.com\/sign-in\/abc<\/a>/);
  });

  it('the HTML part supports light and dark themes, is readable without styles, and loads nothing', () => {
    const { html } = renderMail(plain);
    assert.match(html, /<meta name="color-scheme" content="light dark">/);
    assert.match(html, /color-scheme: light dark/);
    const colours = [...html.matchAll(/(?<![-\w:])(color|background)[\w-]*:\s*([^;{}]+)/g)].map(
      ([, name, value]) => `${name} ${value}`,
    );
    const named = ['color light dark', 'background #0a5ad6', 'color #fff'];
    assert.deepEqual(colours, named, 'but for the scheme the button alone has colours, and both of them');
    const bare = html.replace(/<head>[\s\S]*<\/head>/, '').replaceAll(/ class="[^"]*"/g, '');
    const order = ['<h1>Sign in</h1>', ...plain.paragraphs, '>Sign in</a>', plain.footnote ?? ''].map(
      (words) => bare.indexOf(words),
    );
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
    assert.ok(order.every((place) => place > 0));
    assert.doesNotMatch(html, /<img|<script|<link|<iframe|url\(|@import|src=|style="/);
  });

  it('every value is escaped, wherever it is used', () => {
    const evil = `"><img src=x onerror=alert(1)>&amp;'</title></style></p>`;
    const { html } = renderMail({
      subject: evil,
      heading: evil,
      paragraphs: [evil],
      action: { label: evil, url: `https://texts.example.com/?a=1&b='x'&c=%22%3E` },
      footnote: evil,
    });
    const tags = [...html.matchAll(/<(\/?[a-z!][a-z0-9]*)/g)].map((match) => match[1]);
    const known = [...renderMail(plain).html.matchAll(/<(\/?[a-z!][a-z0-9]*)/g)].map((match) => match[1]);
    assert.deepEqual([...new Set(tags)].sort(), [...new Set(known)].sort());
    assert.equal(html.match(/&quot;&gt;&lt;img src=x onerror=alert\(1\)&gt;&amp;amp;'/g)?.length, 6);
    assert.match(html, /href="https:\/\/texts\.example\.com\/\?a=1&amp;b='x'&amp;c=%22%3E"/);
  });

  it('every text of a mail becomes one line, without line breaks and direction marks', () => {
    const broken = 'one\r\ntwo\u0085three\u2028four\u2029five\0six\tseven\u202eeight\u2067nine\ud800ten';
    const whole = 'one two three four five six seveneightnine\ufffdten';
    const { subject, text } = renderMail({
      subject: broken,
      heading: broken,
      paragraphs: [broken],
      footnote: broken,
    });
    assert.equal(subject, whole);
    assert.equal(text, `${[whole, whole, whole].join('\n\n')}\n`);
  });

  it('an action of a mail has an http or https address, and the error for another address does not quote it', () => {
    const site = 'https://texts.example.com/';
    const wrong = ['javascript:alert(1)', 'data:text/html,x', '//texts.example.com/x', 'secret'];
    for (const url of [...wrong, ...['a b', 'a\nb', '"onclick', '<b>'].map((path) => site + path)]) {
      assert.throws(
        () => renderMail({ ...plain, action: { label: 'x', url } }),
        (error) => error instanceof Error && !error.message.includes(url),
        url,
      );
    }
    assert.ok(renderMail({ ...plain, action: { label: 'x', url: 'http://127.0.0.1:3000/x' } }).text);
  });
});
