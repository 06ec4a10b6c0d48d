import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { html, rawHtml } from '#server/http/html.ts';

describe('the template function for HTML', () => {
  it('texts and numbers are escaped, between tags and in attributes', () => {
    const text = `"><script>alert('1 & 2')</script>`;
    assert.equal(
      String(html`<p title="${text}">${text}${7}</p>`),
      "<p title=\"&quot;&gt;&lt;script&gt;alert('1 &amp; 2')&lt;/script&gt;\">&quot;&gt;&lt;script&gt;alert('1 &amp; 2')&lt;/script&gt;7</p>",
    );
  });

  it('HTML values are not escaped again, lists are joined at every level, and undefined and false write nothing', () => {
    const items = ['<a>', 'b'].map((text) => html`<li>${text}</li>`);
    assert.equal(
      String(html`${rawHtml('<hr>')}${undefined}${false}<ul>${items}</ul>${[['<', [html`<br>`]]]}`),
      '<hr><ul><li>&lt;a&gt;</li><li>b</li></ul>&lt;<br>',
    );
  });
});
