import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { renderShell } from '#server/dashboard/web/web-files.ts';
import { Browser } from '#test/support/browser/browser-client.ts';
import { newMember } from '#test/support/people/people.ts';
import { given } from '#test/support/service/given.ts';
import { givenService } from '#test/support/service/given-team.ts';

describe('the page and the files of the dashboard', () => {
  let page: string;
  const service = givenService();
  const member = given(async () => newMember(service, await service.newTeam(), 'viewer'));

  before(async () => {
    page = `/teams/${member.team.publicId}`;
  });

  it('the dashboard’s addresses redirect to the sign-in without a session, and the sign-in leads back', async () => {
    const visitor = new Browser(service.baseUrl);
    for (const [path, next] of [
      ['/', ''],
      [`${page}/numbers`, `?next=${encodeURIComponent(`${page}/numbers`)}`],
    ] as const) {
      const { status, headers } = await visitor.get(path);
      assert.deepEqual([status, headers.get('location')], [303, `/sign-in${next}`]);
    }
  });

  it('every address below a team serves the same page, and the page may load files from this server only', async () => {
    const paths = ['/', page, `${page}/numbers`, `${page}/messages/x`, `${page}/conversations/x/y`];
    for (const path of paths) {
      const { status, text, headers } = await member.get(path);
      assert.equal(status, 200, path);
      assert.match(text, /<div id="root">/);
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none'; script-src 'self' 'sha256-[^']+'; style-src 'self';/);
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
      assert.ok(text.includes(member.account.email), 'the account comes along');
    }
  });

  it('the dashboard’s files are compressed from 1 KB on, and cached for ever under a name with their hash', async () => {
    const { text } = await member.get(page);
    const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    assert.ok(files.length >= 3);
    for (const path of files) {
      const answer = await fetch(`${service.baseUrl}${path}`, { headers: { 'accept-encoding': 'br' } });
      const { status, headers } = answer;
      const { byteLength } = await answer.arrayBuffer();
      assert.equal(status, 200, path);
      assert.match(path, /-[\w-]{8}\.(js|css|woff2)$/);
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(headers.get('content-encoding'), byteLength < 1_024 ? null : 'br');
    }
  });

  it('a < in the data of a page cannot end their script element', () => {
    const entry = { script: 'main.js', imports: [], styles: [], font: undefined };
    const page = renderShell({ base: '', nowMs: 0, entry }, { name: '</script><script>' });
    assert.ok(page.includes('{"name":"\\u003c/script>\\u003cscript>"}'), page);
  });

  it('only files of the build are served', async () => {
    for (const name of ['none.js', 'manifest.json', '..%2F..%2Fpackage.json', 'constructor', '__proto__']) {
      assert.equal((await fetch(`${service.baseUrl}/assets/${name}`)).status, 404, name);
    }
  });
});
