import jsqr from 'jsqr';
import type { Browser, Locator } from 'playwright-core';

/** Decodes the QR code in a screenshot of an element, with a library that did not draw it. */
export async function readQrCode(browser: Browser, element: Locator): Promise<string | undefined> {
  const picture = await element.screenshot();
  const page = await browser.newPage();
  try {
    const source = `data:image/png;base64,${picture.toString('base64')}`;
    const { width, height, pixels } = await page.evaluate<{
      width: number;
      height: number;
      pixels: number[];
    }>(
      `(async () => {
        const image = new Image();
        image.src = ${JSON.stringify(source)};
        await image.decode();
        const { naturalWidth: width, naturalHeight: height } = image;
        const context = new OffscreenCanvas(width, height).getContext('2d');
        context.drawImage(image, 0, 0);
        return { width, height, pixels: [...context.getImageData(0, 0, width, height).data] };
      })()`,
    );
    // The cast is needed because the package is CommonJS, but its types describe an ES module.
    const read = jsqr as unknown as typeof jsqr.default;
    return read(Uint8ClampedArray.from(pixels), width, height)?.data;
  } finally {
    await page.close();
  }
}
