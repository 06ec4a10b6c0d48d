/** A package of a lock file of npm, version 3, as far as it is read. */
interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  /** By its path, such as `node_modules/pg`. The package itself has the path ''. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** Lists what a release contains, and what npm installs with it. */
export interface ReleaseContents {
  /** The lock file of the package: that of the clone without tools and workspaces. */
  readonly releaseLock: LockFile;
  /** package-lock.json of the clone, which also has the dashboard's libraries. */
  readonly lock: LockFile;
  /** web/dist/files/libraries.json: what the build compiled into the dashboard. */
  readonly libraries: readonly { readonly name: string; readonly version: string }[];
}

/** An npm package of a release. */
export interface ReleasePackage extends LockedPackage {
  readonly name: string;
  readonly version: string;
  /** Its paths in the lock file of the release: none if it is only compiled in, several if npm installs it more than once. */
  readonly installedAt: readonly string[];
  /** Its path in the clone. */
  readonly path: string;
  readonly isCompiledIn: boolean;
}

const keyOf = ({ name, version }: { readonly name: string; readonly version: string }) =>
  `${name}@${version}`;

const entriesOf = ({ packages }: LockFile) =>
  Object.entries(packages)
    .filter(([path]) => path.startsWith('node_modules/'))
    .map(([path, entry]) => {
      const name = path.replace(/.*node_modules\//, '');
      return { ...entry, path, name, version: entry.version ?? '' };
    });

/** Lists each package once, in the order of names. @throws Error if a library of the dashboard is not in the lock file */
export function listPackages({ releaseLock, lock, libraries }: ReleaseContents): ReleasePackage[] {
  const compiledIn = new Set(libraries.map(keyOf));
  const installed = entriesOf(releaseLock);
  const all = [...installed, ...entriesOf(lock).filter((one) => compiledIn.has(keyOf(one)))];
  const groups = Map.groupBy(all, keyOf);
  const missing = [...compiledIn].filter((key) => !groups.has(key));
  if (missing.length > 0)
    throw new Error(`The lock file does not have ${missing.join(', ')} of the dashboard.`);
  return [...groups.keys()].sort().flatMap((key) => {
    const [first] = groups.get(key) ?? [];
    const installedAt = installed.filter((one) => keyOf(one) === key).map(({ path }) => path);
    return first ? [{ ...first, installedAt, isCompiledIn: compiledIn.has(key) }] : [];
  });
}

/** Finds the packages that a package loads, as Node does: in its own node_modules, then in those of the folders above. */
export function findDependencies({ packages }: LockFile, path: string): string[] {
  const { dependencies, optionalDependencies } = packages[path] ?? {};
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
      const candidate = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
      if (packages[candidate]) return [candidate];
      if (folder === '') return [];
    }
  });
}
