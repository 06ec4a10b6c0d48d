import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

export function readSources(pattern: string): readonly SourceFile[] {
  return globSync(pattern, { cwd: root }).map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const imports = [...text.matchAll(/from '([^']+)'/g)].map((match) => resolveImport(path, match[1] ?? ''));
    return { path, text, imports };
  });
}

interface ImportedName {
  readonly path: string;
  readonly name: string;
}

/** Lists the names that a file imports, also by `(await import('./file.ts')).name` and `lazyRouteComponent`. */
export function readImports({ path, text }: SourceFile): ImportedName[] {
  const fromEach = [...text.matchAll(/^import (?:type )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(
    ([, names = '', specifier = '']) =>
      names.split(',').map((name) => ({
        specifier,
        name: name
          .replace(/^\s*type\b/, '')
          .trim()
          .split(' as ')[0],
      })),
  );
  const dynamic = [...text.matchAll(/import\('([^']+)'\)(?:\)\.|, ')(\w+)/g)].map(
    ([, specifier = '', name]) => ({
      specifier,
      name,
    }),
  );
  return [...fromEach, ...dynamic].map(({ specifier, name = '' }) => ({
    path: resolveImport(path, specifier),
    name,
  }));
}

export const files = readSources('{contract,server,shortcut,simulated-phone,webhook-listener}/**/*.ts');

function resolveImport(path: string, specifier: string): string {
  if (specifier.startsWith('#')) return specifier.slice(1);
  return specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier;
}

/** Slice of a file: `contract`, a folder of server/, `shortcut`, `simulated-phone`, or `root` for the composition. */
export function sliceOf(path: string): string {
  const [top, second] = path.split('/');
  if (top !== 'server') return top ?? '';
  return second?.endsWith('.ts') || second === 'app' || second === 'cli' ? 'root' : (second ?? '');
}

export const isOurs = (path: string) =>
  /^(contract|server|shortcut|simulated-phone|webhook-listener)\//.test(path);

/**
 * Lists the problems of all files, so that a failed test shows all of them.
 * @param rule returns the problem of a file, if there is one
 */
export function offenders(rule: (file: SourceFile) => string | undefined | false): string[] {
  return files.flatMap((file) => {
    const problem = rule(file);
    return problem ? [`${file.path}: ${problem}`] : [];
  });
}

export const columnDeclaration =
  /^ {2}(\w+) (?:uuid|text|bytea|boolean|smallint|integer|bigint|date|timestamptz|jsonb)/gm;

export const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
