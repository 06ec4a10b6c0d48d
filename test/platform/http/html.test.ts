import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { html, rawHtml } from '#server/platform/http/html.ts';

describe('the template of HTML', () => {
  it('escapes texts and numbers, between tags and in attributes', () => {
    const text = `"><script>alert('1 & 2')</script>`;
    assert.equal(
      String(html`<p title="${text}">${text}${7}</p>`),
      "<p title=\"&quot;&gt;&lt;script&gt;alert('1 &amp; 2')&lt;/script&gt;\">&quot;&gt;&lt;script&gt;alert('1 &amp; 2')&lt;/script&gt;7</p>",
    );
  });

  it('keeps HTML, joins lists at every level, and writes nothing for undefined and false', () => {
    const items = ['<a>', 'b'].map((text) => html`<li>${text}</li>`);
    assert.equal(
      String(html`${rawHtml('<hr>')}${undefined}${false}<ul>${items}</ul>${[['<', [html`<br>`]]]}`),
      '<hr><ul><li>&lt;a&gt;</li><li>b</li></ul>&lt;<br>',
    );
  });
});
