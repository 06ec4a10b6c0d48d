import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import { chromium } from 'playwright-core';
import { repository } from '#test/support/processes/spawned-service.ts';

const run = promisify(execFile);

/** A Chromium on this machine, and the additional environment variables that it needs. */
interface FoundBrowser {
  readonly executablePath: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `chromium-browser` is not in the list: on Ubuntu it is a snap, which can't read a profile in the temp folder. */
const systemPaths = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * Finds the browser that CHROMIUM names: a path, or `packaged` for the one from npm. Without CHROMIUM it is
 * Playwright's own browser, else one of the system, else the packaged one.
 * @throws if there is no browser, with the command that installs one
 */
export async function findBrowser(): Promise<FoundBrowser> {
  const chosen = process.env.CHROMIUM ?? '';
  if (chosen !== '' && chosen !== 'packaged') {
    if (!existsSync(chosen)) throw new Error(`There is no browser at CHROMIUM=${chosen}`);
    return { executablePath: chosen, env: {} };
  }
  const installed = [chromium.executablePath(), ...systemPaths].find((path) => existsSync(path));
  if (chosen === '' && installed !== undefined) return { executablePath: installed, env: {} };
  const packaged = await packagedChromium();
  if (packaged === undefined) {
    const command = isPackagedHere ? 'npm ci' : 'npx playwright-core install --with-deps chromium';
    throw new Error(`No Chromium for the browser tests. This brings one: ${command}`);
  }
  return packaged;
}

/** True on the platform for which the package has a Chromium. */
const isPackagedHere = process.platform === 'linux' && process.arch === 'x64';

/**
 * Font settings with only the fonts of the package, so that a page looks the same everywhere. Without a font, text
 * would have no size.
 */
const fontsConf = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir><cachedir prefix="xdg">fontconfig</cachedir></fontconfig>
`;

/**
 * Unpacks the Chromium from `npm ci` when it is first needed. The package's own code is not called: it switches web
 * security off. It also unpacks to fixed names in the temp folder, where other users may have put a program.
 * @returns undefined if the package is missing or made for other machines
 */
async function packagedChromium(): Promise<FoundBrowser | undefined> {
  const source = packageFolder();
  if (source === undefined || !isPackagedHere) return undefined;
  const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
  const folder = await unpackedOnce(join(source, 'bin'), `chromium-${version}`);
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      // This folder contains libnspr4 and libnss3, which a minimal Debian lacks.
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

/** Unpacks `source` unless the folder of that name exists. @returns its path */
async function unpackedOnce(source: string, name: string): Promise<string> {
  // The cache is in node_modules, where `npm ci` deletes it, or in the home folder if another user owns node_modules.
  // No other user can write to either.
  const places = [join(repository, 'node_modules/.cache/ownline'), join(homedir(), '.cache/ownline')];
  const refusals: unknown[] = [];
  for (const place of places) {
    const folder = join(place, name);
    if (isUnpacked(folder)) return folder;
    const copy = await newFolder(folder).catch((error) => void refusals.push(error));
    if (copy === undefined) continue;
    await unpack(source, copy, folder);
    return folder;
  }
  throw new AggregateError(refusals, `Chromium can be unpacked neither below ${places.join(' nor below ')}`);
}

/** A folder gets its final name only when it is complete, so it suffices that it exists. */
function isUnpacked(folder: string): boolean {
  return existsSync(join(folder, 'chromium'));
}

/** Makes a folder for this process, beside the final one. */
async function newFolder(folder: string): Promise<string> {
  await mkdir(dirname(folder), { recursive: true });
  return mkdtemp(`${folder}-`);
}

/** Test files that start at once each unpack a copy. The first copy that is complete gets the name. */
async function unpack(source: string, copy: string, folder: string): Promise<void> {
  try {
    await unpackInto(copy, source);
    await rename(copy, folder);
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    if (!isUnpacked(folder)) throw error;
  }
}

async function unpackInto(folder: string, source: string): Promise<void> {
  for (const name of ['al2023.tar', 'fonts.tar']) {
    const archive = join(folder, name);
    await decompress(join(source, `${name}.br`), archive);
    // -o: the extracting user owns the files, even root.
    await run('tar', ['-xof', archive, '-C', folder]);
    await rm(archive);
  }
  await writeFile(join(folder, 'fonts.conf'), fontsConf);
  await decompress(join(source, 'chromium.br'), join(folder, 'chromium'));
  await chmod(join(folder, 'chromium'), 0o755);
}

function decompress(from: string, to: string): Promise<void> {
  return pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));
}
