import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listPackages, type ReleaseContents, type ReleasePackage } from './components.ts';
import { platformParts } from './platform-parts.ts';
import { repository } from './run.ts';

/** Licences that ask for no more than their text, or for the names of authors. */
const allowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'OFL-1.1',
  'OpenSSL',
  'PostgreSQL',
  'Unicode-3.0',
  'Unicode-DFS-2016',
  'Zlib',
  'public domain',
  'terms of OSSP uuid',
]);

/** Files of their own that PostgreSQL loads on macOS. Who changes them can put theirs in their place, as the LGPL asks. */
const allowedFor: Readonly<Record<string, readonly string[]>> = {
  'LGPL-2.1-or-later': ['libiconv', 'gettext'],
};

const introduction = `Software of others in Ownline

The lines above each text name what it is for. The dashboard's libraries are compiled into its files. npm installs all
others, and of Node and PostgreSQL only the packages of one platform. libiconv and gettext (LGPL) are files of
PostgreSQL's packages for macOS; no code of Ownline is linked with them. The script of @scalar/fastify-api-reference
contains libraries that the package does not list; Vue (MIT) is one of them.
`;

interface Licensed {
  readonly name: string;
  readonly title: string;
  readonly licence: string | undefined;
  readonly text: string | undefined;
}

/**
 * Makes the text of THIRD-PARTY-LICENCES.txt. A text that several have stands once.
 * @throws Error that names each component without a text, or with a licence that is not allowed
 */
export async function writeLicences(contents: ReleaseContents): Promise<string> {
  const components = [...(await readPackages(contents)), ...(await readParts())];
  const problems = components.flatMap(({ name, title, licence, text }) => [
    ...(isAllowed(name, licence) ? [] : [`${title} has ${licence ?? 'no'} licence, which is not allowed.`]),
    ...(text ? [] : [`${title} has no text of its licence. Put it into release/licences/.`]),
  ]);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const titles = Map.groupBy(components, ({ text }) => text);
  const sections = [...titles].map(
    ([text, group]) => `${group.map(({ title }) => title).join('\n')}\n\n${text}\n`,
  );
  return [introduction, ...sections].join(`\n${'='.repeat(100)}\n\n`);
}

/** Decides about an SPDX expression, such as `(MIT OR CC0-1.0)`. */
function isAllowed(name: string, licence = ''): boolean {
  const alternatives = licence.replaceAll(/[()]/g, '').split(' OR ');
  return alternatives.some((all) =>
    all.split(' AND ').every((one) => allowed.has(one) || allowedFor[one]?.includes(name)),
  );
}

async function readPackages(contents: ReleaseContents): Promise<Licensed[]> {
  const packages = listPackages(contents);
  const texts = await Promise.all(packages.map(readText));
  return packages.map(({ name, version, license, isCompiledIn }, index) => {
    // npm installs only one of the platform packages, and some packages of a family leave the text to another.
    const relative = packages.findIndex(
      (one, other) => texts[other] && familyOf(one.name) === familyOf(name) && one.license === license,
    );
    const title = `${name} ${version} (${license})${isCompiledIn ? ', in the dashboard' : ''}`;
    return { name, title, licence: license, text: texts[index] ?? texts[relative] };
  });
}

const familyOf = (name: string) => name.replace(/\/.*|-(?:bin-)?(?:linux|darwin)-.*/, '');

/** Reads the licence from a package's own files, its README included, or from release/licences/. */
async function readText({ name, path }: ReleasePackage): Promise<string | undefined> {
  const folder = join(repository, path);
  const files = (await readdir(folder).catch(() => [])).sort();
  const own = files.filter((file) => /^(?:licen[cs]e|copying|notice|unlicense)/i.test(file));
  if (own.length > 0)
    return (await Promise.all(own.map((file) => readPlain(join(folder, file))))).join('\n\n');
  const readme = files.find((file) => /^readme/i.test(file));
  const [, section] = readme
    ? (/^#+ *licen[cs]e\n(.*)/ims.exec(await readPlain(join(folder, readme))) ?? [])
    : [];
  if (section?.includes('Permission is hereby granted')) return section.trim();
  return readPlain(join(repository, 'release/licences', `${name}.txt`)).catch(() => undefined);
}

/** Vite's file goes on with the licences of what Vite itself contains. None of that is in the dashboard. */
async function readPlain(path: string): Promise<string> {
  const [text = ''] = (await readFile(path, 'utf8')).split('# Licenses of bundled dependencies');
  return text.replaceAll('\r', '').trim();
}

async function readParts(): Promise<Licensed[]> {
  return Promise.all(
    platformParts.map(async ({ name, version = 'of an unknown version', licence, packages, text }) => ({
      name,
      title: `${name} ${version} (${licence}), in ${packages.join(', ')}`,
      licence,
      text: await readPlain(join(repository, text)),
    })),
  );
}
