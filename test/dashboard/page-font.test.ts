import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { givenService } from '#test/support/service/given-team.ts';

describe('the files of pages without the dashboard', () => {
  const service = givenService({ APP_URL: 'http://127.0.0.1:{port}/texts' });

  it('the font is below the path of APP_URL in each page, and is served from memory with an ETag', async () => {
    for (const path of ['/sign-in', '/billing', '/invite/none', '/nowhere']) {
      const page = await fetch(service.baseUrl + path, { headers: { accept: 'text/html' } });
      const text = await page.text();
      assert.match(
        page.headers.get('link') ?? '',
        /^<\/texts\/fonts\/inter-latin\.woff2>; rel=preload;/,
        path,
      );
      assert.match(text, /src: url\("\/texts\/fonts\/inter-latin\.woff2"\)/, path);
      assert.match(page.headers.get('content-security-policy') ?? '', /; font-src 'self';/, path);
    }
    const font = await fetch(`${service.baseUrl}/fonts/inter-latin.woff2`);
    assert.equal(font.headers.get('content-type'), 'font/woff2');
    const bytes = Buffer.from(await font.arrayBuffer());
    assert.equal(bytes.subarray(0, 4).toString(), 'wOF2');
    const etag = font.headers.get('etag') ?? '';
    const again = await fetch(`${service.baseUrl}/fonts/inter-latin.woff2`, {
      headers: { 'if-none-match': etag },
    });
    assert.equal(again.status, 304);
  });

  it('the icon is below the path of APP_URL in each page, and also at the default address that browsers request', async () => {
    for (const path of ['/sign-in', '/billing', '/nowhere']) {
      const page = await fetch(service.baseUrl + path, { headers: { accept: 'text/html' } });
      assert.match(
        await page.text(),
        /<link rel="icon" type="image\/svg\+xml" href="\/texts\/favicon\.ico">/,
        path,
      );
    }
    const icon = await fetch(`${service.baseUrl}/favicon.ico`);
    assert.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/svg+xml']);
    assert.match(await icon.text(), /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  });

  it('the dashboard can be installed as an app: its manifest and the icons in it load', async () => {
    const address = `${service.baseUrl}/manifest.webmanifest`;
    const manifest = await fetch(address);
    assert.equal(manifest.headers.get('content-type'), 'application/manifest+json');
    const { start_url, icons } = (await manifest.json()) as {
      readonly start_url: string;
      readonly icons: readonly { readonly src: string; readonly type: string }[];
    };
    assert.equal(new URL(start_url, address).pathname, '/');
    for (const { src, type } of icons)
      assert.equal((await fetch(new URL(src, address))).headers.get('content-type'), type);
  });
});
