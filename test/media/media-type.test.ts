import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isShownInline, mediaName, sniffMediaType } from '#server/media/media-type.ts';
import { otherFiles, shownFiles, unusualFiles } from '#test/support/media/sample-files.ts';

describe('types of media (§2.8/media-types)', () => {
  for (const [type, extension, bytes] of shownFiles) {
    it(`${type} is recognised by its bytes, and its files end in .${extension}`, async () => {
      assert.deepEqual(await sniffMediaType(bytes), { type, extension });
    });
  }

  for (const [what, type, extension, bytes] of unusualFiles) {
    it(`${what} is recognised as ${type}`, async () => {
      assert.deepEqual(await sniffMediaType(bytes), { type, extension });
    });
  }

  for (const [what, bytes] of otherFiles) {
    it(`${what} is refused as media`, async () => {
      assert.equal(await sniffMediaType(bytes), undefined);
    });
  }

  it('files of 1 to 15 bytes do not make the detection of a type fail', async () => {
    for (let size = 1; size < 16; size += 1) {
      for (const [, , bytes] of shownFiles) await sniffMediaType(bytes.subarray(0, size));
    }
  });

  it('browsers display images, videos and sounds, and download documents, contacts and calendar files', () => {
    const shown = shownFiles.map(([type]) => type).filter((type) => !isShownInline(type));
    assert.deepEqual(shown, ['application/pdf', 'text/vcard', 'text/calendar']);
  });
});

describe('the file name that a message’s media gets (§2.8/media-names)', () => {
  const cases = [
    ['/pictures/Menu%20of%20May.JPG', 'jpg', 'Menu-of-May.jpg'],
    ['menu.html', 'jpg', 'menu.jpg'],
    ['Café Zürich.png', 'png', 'Cafe-Zurich.png'],
    ['C:\\temp\\card.vcf', 'vcf', 'card.vcf'],
    ['../../etc/passwd', 'pdf', 'passwd.pdf'],
    ['"; rm -rf', 'gif', 'rm--rf.gif'],
    ['写真.heic', 'heic', 'media.heic'],
    ['%E0%A4%A', 'png', 'E0-A4-A.png'],
    ['', 'mp4', 'media.mp4'],
    [undefined, 'mp4', 'media.mp4'],
  ] as const;
  for (const [wanted, extension, name] of cases) {
    it(`the file name ${JSON.stringify(wanted)} becomes ${name}`, () => {
      assert.equal(mediaName(wanted, extension), name);
    });
  }

  it('a file name has at most 64 characters before its extension', () => {
    assert.equal(mediaName(`${'a'.repeat(500)}.png`, 'png'), `${'a'.repeat(64)}.png`);
  });
});
