import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What a slice may import: everything to its left (docs/architecture.md). */
const order = [
  'contract',
  'platform',
  'database',
  'audit',
  'events',
  'mail',
  'accounts',
  'teams',
  'api-keys',
  'usage',
  'devices',
  'numbers',
  'webhooks',
  'messages',
  'device-protocol',
  'dashboard',
] as const;

/** Slices that stand side by side in that order and do not see each other. */
const strangers: readonly (readonly [string, string])[] = [
  ['events', 'mail'],
  ['api-keys', 'usage'],
  ['api-keys', 'devices'],
  ['api-keys', 'numbers'],
  ['api-keys', 'messages'],
  ['api-keys', 'device-protocol'],
  ['api-keys', 'webhooks'],
  ['usage', 'webhooks'],
  ['webhooks', 'messages'],
  ['webhooks', 'device-protocol'],
];

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
}

function readSources(pattern: string): readonly SourceFile[] {
  return globSync(pattern, { cwd: root }).map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const imports = [...text.matchAll(/from '([^']+)'/g)].map((match) => resolveImport(path, match[1] ?? ''));
    return { path, text, imports };
  });
}

const files = readSources('{contract,server,simulated-phone,webhook-listener}/**/*.ts');

function resolveImport(path: string, specifier: string): string {
  if (specifier.startsWith('#')) return specifier.slice(1);
  return specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier;
}

/** `contract`, the folder below server/, `simulated-phone`, or `root` for the files that put it together. */
function sliceOf(path: string): string {
  const [top, second] = path.split('/');
  if (top !== 'server') return top ?? '';
  return second?.endsWith('.ts') || second === 'app' || second === 'cli' ? 'root' : (second ?? '');
}

const isOurs = (path: string) => /^(contract|server|simulated-phone|webhook-listener)\//.test(path);

/** Everything that breaks a rule, as one list: a test that fails says all of it. */
function offenders(rule: (file: SourceFile) => string | undefined | false): string[] {
  return files.flatMap((file) => {
    const problem = rule(file);
    return problem ? [`${file.path}: ${problem}`] : [];
  });
}

const columnDeclaration =
  /^ {2}(?:ADD COLUMN )?(\w+) (?:uuid|text|bytea|boolean|smallint|integer|bigint|date|timestamptz|jsonb)/gm;

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

/** SQL in the literals of a text, or a call that takes some; undefined where there is none. */
function findSql(text: string): string | undefined {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<![:\w])\/\/ .*$/gm, '');
  const call = /\.query[<(]|from 'pg'/.exec(code);
  if (call) return call[0];
  const literals = code.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];
  const sql =
    /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|TRUNCATE|LOCK TABLE|LISTEN|(CREATE|ALTER|DROP) [A-Z]+)\b/;
  return literals.map((literal) => sql.exec(literal)?.[0]).find((match) => match !== undefined);
}

describe('the architecture (docs/architecture.md)', () => {
  it('a slice imports only what stands to its left', () => {
    const found = files.flatMap((file) =>
      file.imports.filter(isOurs).flatMap((target) => {
        const [from, to] = [sliceOf(file.path), sliceOf(target)];
        if (from === 'root' || from === to) return [];
        const places = [from, to].map((slice) => order.indexOf(slice as (typeof order)[number]));
        const [fromPlace = -1, toPlace = -1] = places;
        const isStranger = strangers.some(([one, other]) => one === to && other === from);
        return toPlace >= 0 && toPlace < fromPlace && !isStranger ? [] : [`${file.path} imports ${target}`];
      }),
    );
    assert.deepEqual(found, []);
  });

  it('every folder of server/ has its place in the order', () => {
    const slices = new Set(files.map((file) => sliceOf(file.path)));
    const known = new Set<string>([...order, 'root', 'simulated-phone', 'webhook-listener']);
    assert.deepEqual(
      [...slices].filter((slice) => !known.has(slice)),
      [],
    );
  });

  it('inside a slice, stores, views and rules do not look up at routes', () => {
    const isLow = (path: string) => /-(store|view|status|statement)\.ts$/.test(path);
    const found = offenders(
      (file) =>
        isLow(file.path) && file.imports.some((target) => /routes?\.ts$/.test(target)) && 'imports a route',
    );
    assert.deepEqual(found, []);
  });

  it('no files import each other in a circle', () => {
    const importsOf = new Map(files.map((file) => [file.path, file.imports.filter(isOurs)]));
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): string[] => {
      if (trail.includes(path)) return [[...trail.slice(trail.indexOf(path)), path].join(' -> ')];
      if (done.has(path)) return [];
      const found = (importsOf.get(path) ?? []).flatMap((target) => visit(target, [...trail, path]));
      done.add(path);
      return found;
    };
    assert.deepEqual(
      files.flatMap((file) => visit(file.path, [])),
      [],
    );
  });

  it('platform knows no noun of the product', () => {
    const nouns = /\b(messages?_|send_queue|numbers n|usage_months|webhook)/;
    const found = offenders(
      (file) =>
        file.path.startsWith('server/platform/') &&
        file.path !== 'server/platform/config.ts' &&
        nouns.exec(file.text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('the simulated phone and the webhook listener speak HTTP and know nothing else of Ownline', () => {
    const found = ['simulated-phone/', 'webhook-listener/'].flatMap((own) => {
      const isForeign = (target: string) => !target.startsWith('node:') && !target.startsWith(own);
      return offenders((file) => file.path.startsWith(own) && file.imports.find(isForeign));
    });
    assert.deepEqual(found, []);
  });

  it('the campaign knows Ownline from outside: it imports its own files, those of Node, and pg in one file', () => {
    const campaign = readSources('campaign/**/*.ts');
    const foreign = (target: string) => !/^(node:|campaign\/|pg$)/.test(target);
    assert.ok(campaign.length > 10);
    const found = campaign.filter(
      (file) => file.imports.some(foreign) || /\bimport\(|#\w+\//.test(file.text),
    );
    assert.deepEqual(
      found.map((file) => file.path),
      [],
    );
    const readers = campaign.filter((file) => file.imports.includes('pg')).map((file) => file.path);
    assert.deepEqual(readers, ['campaign/neighbours/database.ts']);
  });

  it('members are told to ask their administrator, and never a shell command (section 12.2)', () => {
    const forPeople = /^server\/(accounts|teams|api-keys|usage|numbers|messages|webhooks|dashboard)\//;
    const found = offenders((file) => forPeople.test(file.path) && /npm run/.exec(file.text)?.[0]);
    assert.deepEqual(found, []);
  });

  it('only config.ts reads the environment', () => {
    const found = offenders(
      (file) => file.path !== 'server/platform/config.ts' && /process\.env\b/.exec(file.text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('every outgoing HTTP request goes through platform/outbound-http (decision 0015) (§6.5/all-requests)', () => {
    const guard = /^server\/platform\/outbound-http\//;
    // Who else may open connections, with what, and why that is no hole: the operator chose the address.
    const others: Readonly<Record<string, RegExp>> = {
      nodemailer: /^server\/mail\/smtp-sender\.ts$/, // SMTP_URL
      pg: /^server\/database\//, // DATABASE_URL, or the engine's own socket
    };
    /** Modules that open connections and do nothing else that a server needs. */
    const clients = /^(undici|(node:)?(https|http2|tls|dgram|dns|dns\/promises))$/;
    /** What of the others opens none: to listen is not to call. */
    const harmless = /^(type \w+|createServer|STATUS_CODES|isIP|isIPv4|isIPv6)$/;
    const ofItsOwn =
      /(?<![.\w#])(globalThis\.)?(fetch\(|new (WebSocket|EventSource)\()|\bimport\((?!'[#.@])|\b(createR|r)equire\((?!import\.meta\.url\)\.resolve)/;
    const found = offenders((file) => {
      if (file.path.startsWith('simulated-phone/') || guard.test(file.path)) return undefined;
      const code = file.text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      const imports = [...code.matchAll(/^import (type )?([^;]*?) from '([^']+)'/gm)];
      const client = imports.find(([, isType, names = '', module = '']) => {
        if (isType) return false;
        if (clients.test(module)) return true;
        if (/^(node:)?(http|net)$/.test(module)) {
          const taken = names.replaceAll(/[{}\n]/g, ' ').split(',');
          return taken.some((name) => name.trim() !== '' && !harmless.test(name.trim()));
        }
        return others[module] !== undefined && !others[module].test(file.path);
      });
      return client ? `imports ${client[2]} from ${client[3]}` : ofItsOwn.exec(code)?.[0];
    });
    assert.deepEqual(found, []);
  });

  it('there is one clock (decision 0007): no Date.now(), no bare new Date(), no now() in SQL', () => {
    // The listener is a program of its own, on a machine that may be another one.
    const allowed = [
      'server/platform/time/clock.ts',
      'server/platform/time/host-clock.ts',
      'server/database/clock-store.ts',
      'webhook-listener/listen-command.ts',
    ];
    const time =
      /Date\.now\(\)|new Date\(\)|\b(now|clock_timestamp|statement_timestamp)\(\)(?! \{)|CURRENT_TIMESTAMP/;
    const found = offenders((file) => {
      const code = file.text
        .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
        .replaceAll(/([cC]lock|this|performance)\.now\(\)/g, '');
      return !allowed.includes(file.path) && time.exec(code)?.[0];
    });
    const migrations = globSync('server/database/migrations/*.sql', { cwd: root }).filter((path) => {
      return time.test(readFileSync(join(root, path), 'utf8').replaceAll(/--.*$/gm, ''));
    });
    assert.deepEqual([...found, ...migrations], []);
  });

  it('SQL is written with statement(), so that each has a name and a test can walk them', () => {
    const bare = /\.query\(\s*[`']\s*(SELECT|INSERT|UPDATE|DELETE)\b(?! pg_notify)/;
    const found = offenders(
      (file) =>
        !file.path.startsWith('server/database/') &&
        file.path !== 'server/app/health-routes.ts' &&
        bare.exec(file.text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('tests have SQL only where they make or read rows (test/support) and where they test the schema (test/database)', () => {
    const found = readSources('test/**/*.ts').flatMap(({ path, text }) => {
      if (/^test\/(support|database)\//.test(path) || path === 'test/architecture.test.ts') return [];
      const sql = findSql(text);
      return sql === undefined ? [] : [`${path}: ${sql}`];
    });
    assert.deepEqual(found, []);
    for (const line of [
      "query('SELECT 1')",
      'query(`\n  UPDATE teams SET name = $1`)',
      '`DELETE FROM $' + '{table}`',
      'pool.query(sql)',
      "import pg from 'pg';",
    ])
      assert.ok(findSql(line), line);
    for (const line of ['// SELECT nothing', "'she may select, update or delete'"])
      assert.equal(findSql(line), undefined, line);
  });

  it('no statement of a transaction calls pg_notify, which would make commits wait for each other', () => {
    const found = files.filter((file) => /SELECT pg_notify/.test(file.text)).map((file) => file.path);
    assert.deepEqual(found.sort(), [
      'server/app/shared-settings.ts',
      'server/database/change-notify-sender.ts',
      'server/database/listener.ts',
      'server/database/notify-sender.ts',
    ]);
  });

  it('routes, pages, views, authenticators and limits have no SQL', () => {
    const found = offenders(
      ({ path, text }) =>
        /(^|[/-])(routes?|page|view|authenticator|limits)\.ts$/.test(path) &&
        /\bstatement[<(]|\.query[<(]/.exec(text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('changes are notified by the statements that declare them, and by no other code (decision 0018)', () => {
    const found = offenders(
      (file) => !file.path.startsWith('server/database/') && /\brecordChange\b/.exec(file.text)?.[0],
    );
    assert.deepEqual(found, []);
  });

  it('a use case takes transaction hooks for effects on slices to its right, and there are three of them', () => {
    const found = files
      .filter((file) => /readonly on[A-Z]\w+: readonly On/.test(file.text))
      .map((file) => file.path);
    assert.deepEqual(
      found.sort(),
      [
        'server/numbers/delete-number.ts',
        'server/numbers/routes.ts',
        'server/teams/members/end-membership.ts',
        'server/teams/members/leave-team.ts',
        'server/teams/members/member-routes.ts',
        'server/teams/members/apply-role.ts',
        'server/teams/members/remove-member.ts',
      ].sort(),
    );
  });

  it('names and sizes: kebab-case, no catch-all names, no barrels, no default exports, at most 400 lines', () => {
    const found = offenders((file) => {
      const name = basename(file.path, '.ts');
      if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return 'is not kebab-case';
      if (/^(utils?|helpers?|common|misc|index)$/.test(name)) return 'has a name that says nothing';
      if (/^export default|^export \* from/m.test(file.text))
        return 'has a default export or re-exports a file';
      if (file.text.split('\n').length > 400) return 'is longer than 400 lines';
      return undefined;
    });
    assert.deepEqual(found, []);
  });

  it('what the comments and tests cite stands in docs/specification.md', () => {
    const specification = readFileSync(join(root, 'docs/specification.md'), 'utf8');
    const headings = new Set(
      [...specification.matchAll(/^#+ (\d+(?:\.\d+)*)\.? /gm)].map((match) => match[1]),
    );
    const cited = globSync('{contract,server,simulated-phone,webhook-listener,test}/**/*.ts', {
      cwd: root,
    }).flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return [
        ...text.matchAll(/specification\s+(?:\*\s+)?sections?\s+(\d+(?:\.\d+)*)(?: and (\d+(?:\.\d+)*))?/g),
      ].flatMap((match) =>
        [match[1], match[2]].flatMap((section) => (section === undefined ? [] : [{ path, section }])),
      );
    });
    assert.ok(cited.length > 20);
    const missing = cited.filter(({ section }) => !headings.has(section));
    assert.deepEqual(
      missing.map(({ path, section }) => `${path} cites ${section}`),
      [],
    );
  });

  it('what the comments cite as a decision stands in docs/decisions', () => {
    const cited = files.flatMap((file) =>
      [...file.text.matchAll(/decision (\d{4})/g)].map((match) => match[1] ?? ''),
    );
    const missing = [...new Set(cited)].filter(
      (n) => globSync(`docs/decisions/${n}-*.md`, { cwd: root }).length !== 1,
    );
    assert.deepEqual(missing, []);
    assert.ok(existsSync(join(root, 'docs/decisions/dependencies.md')));
  });

  it('the glossary: its files exist and say its terms, as the documents do; no file, export or column has a name that it rules out', () => {
    const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8');
    const rows = [...glossary.matchAll(/^\|([^|]+)\|([^|]+)\|([^|]*)\|([^|]*)\|$/gm)].filter(
      ([, term = '']) => !/^ term $|^-+$/.test(term),
    );
    assert.ok(rows.length > 60);
    const terms = rows.map(([, term = '']) => term.trim());
    assert.deepEqual(
      terms.filter((term, index) => terms.indexOf(term) < index),
      [],
      'terms that are listed twice',
    );
    const paths = rows.flatMap(([, , , , where = '']) =>
      [...where.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
    );
    assert.deepEqual(
      paths.filter((path) => !existsSync(join(root, path))),
      [],
      'files that are not there',
    );
    // Hyphens and line ends do not count: `slow-reader` is a slow reader.
    const plain = (text: string) => text.toLowerCase().replaceAll(/[\s*-]+/g, ' ');
    const commentsOf = (path: string) =>
      plain(
        readFileSync(join(root, path), 'utf8')
          .match(/\/\*[\s\S]*?\*\/|\/\/.*$/gm)
          ?.join('\n') ?? '',
      );
    const documents = plain(
      ['specification', 'architecture']
        .map((name) => readFileSync(join(root, `docs/${name}.md`), 'utf8'))
        .join('\n'),
    );
    const unsaid = rows.flatMap(([, term = '', , , where = '']) => [
      ...[...where.matchAll(/`([^`]+\.ts)`/g)]
        .filter(([, path = '']) => !commentsOf(path).includes(plain(term.trim())))
        .map(([, path]) => `a comment of ${path} does not say "${term.trim()}"`),
      ...(documents.includes(plain(term.trim()))
        ? []
        : [`neither specification nor architecture says "${term.trim()}"`]),
    ]);
    assert.deepEqual(unsaid, []);
    const banned = rows
      .flatMap(([, , , not = '']) => not.split(',').map((word) => word.trim()))
      .filter(Boolean);
    assert.ok(banned.length > 8);
    // Whole words, in singular and plural: a hand-out is no hand.
    const rule = new RegExp(`(?<![a-z])(${[...new Set(banned)].join('|')})(s|ed)?(?![a-z])(?! out)`);
    const words = (name: string) =>
      name
        .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
        .replaceAll(/[_#.-]/g, ' ')
        .toLowerCase();
    const exported = /^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm;
    const named = files.flatMap(({ path, text }) => [
      { name: basename(path, '.ts'), path },
      ...[...text.matchAll(exported)].map((match) => ({ name: match[1] ?? '', path })),
    ]);
    const schema = globSync('server/database/migrations/*.sql', { cwd: root })
      .map((path) => readFileSync(join(root, path), 'utf8'))
      .join('\n');
    const columns = [...schema.matchAll(columnDeclaration)];
    assert.ok(columns.length > 200);
    const all = [...named, ...columns.map((match) => ({ name: match[1] ?? '', path: 'a column' }))];
    assert.deepEqual(
      all.filter(({ name }) => rule.test(words(name))).map(({ name, path }) => `${path}: ${name}`),
      [],
      'names that are ruled out',
    );
  });

  it('the code of the server names each column', () => {
    const server = files.filter(({ path }) => path.startsWith('server/'));
    const words = new Set(server.flatMap(({ text }) => withoutComments(text).match(/\w+/g) ?? []));
    const schema = globSync('server/database/migrations/*.sql', { cwd: root }).map((path) =>
      readFileSync(join(root, path), 'utf8'),
    );
    const tables = schema.join('\n').replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, '');
    const columns = [...tables.matchAll(columnDeclaration)].map(([, column = '']) => column);
    assert.ok(columns.length > 200);
    assert.deepEqual(
      columns.filter((column) => !words.has(column)),
      [],
    );
  });

  it('each table has an owner, and other slices write it only as the table of owners says (docs/architecture.md)', () => {
    const document = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    const owners = new Map(
      [...document.matchAll(/^\| `(\w+)` \| ([a-z-]+) \|([^|]*)\|$/gm)].map(
        ([, table = '', owner = '', others = '']) => [
          table,
          { owner, others: [...others.matchAll(/(?:^ |; )([a-z-]+):/g)].map(([, slice = '']) => slice) },
        ],
      ),
    );
    const schema = globSync('server/database/migrations/*.sql', { cwd: root })
      .map((path) => readFileSync(join(root, path), 'utf8'))
      .join('\n');
    const tables = [...schema.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+) \(/gm)].map(
      (match) => match[1] ?? '',
    );
    assert.deepEqual(
      [...owners.keys()].sort(),
      [...tables].sort(),
      'a table without an owner, or an owner of none',
    );
    const writers = new Map(tables.map((table) => [table, new Set<string>()]));
    for (const { path, text } of files.filter((file) => file.path.startsWith('server/'))) {
      for (const [, table = ''] of withoutComments(text).matchAll(
        /\b(?:INSERT INTO|UPDATE|DELETE FROM|MERGE INTO) (\w+)/g,
      )) {
        writers.get(table)?.add(sliceOf(path));
      }
    }
    const found = [...writers].flatMap(([table, slices]) => {
      const { owner = '', others = [] } = owners.get(table) ?? {};
      const allowed = new Set([owner, ...others]);
      return [
        ...[...slices]
          .filter((slice) => !allowed.has(slice))
          .map((slice) => `${slice} writes ${table} and is not named`),
        ...others
          .filter((slice) => !slices.has(slice))
          .map((slice) => `${slice} is named as a writer of ${table} and is none`),
      ];
    });
    assert.deepEqual(found, []);
  });

  it('the folders of a slice import one way', () => {
    const orders: Readonly<Record<string, readonly string[]>> = {
      'server/accounts': [
        'account',
        'sessions',
        'throttling',
        'magic-links',
        'passwords',
        'passkeys',
        'sign-in',
      ],
      'server/teams': ['team', 'members', 'invitations', 'acceptance'],
      'server/webhooks': ['queue', 'endpoints', 'deliveries', 'dispatch'],
    };
    const found = Object.entries(orders).flatMap(([slice, folders]) => {
      const rank = (path: string) => folders.indexOf(path.slice(slice.length + 1).split('/')[0] ?? '');
      return files
        .filter((file) => file.path.startsWith(`${slice}/`))
        .flatMap((file) =>
          file.imports
            .filter((target) => target.startsWith(`${slice}/`) && rank(target) > rank(file.path))
            .map((target) => `${file.path} imports ${target}`),
        );
    });
    assert.deepEqual(found, []);
    const inFolders = files.filter(({ path }) =>
      Object.keys(orders).some((slice) => path.startsWith(`${slice}/`)),
    );
    const flat = inFolders.filter(
      ({ path }) => path.split('/').length === 3 && basename(path) !== 'limits.ts',
    );
    assert.deepEqual(
      flat.map(({ path }) => path),
      [],
      'files of these slices belong into one of their folders',
    );
  });

  it('inside a slice, only routes import routes, and stores and views import no use case', () => {
    // A file's kind is its name's ending. A use case is a file that imports a store of its slice; platform is no slice.
    const isRoutes = (path: string) => /(^|[/-])routes?\.ts$/.test(path);
    const isStore = (path: string) => /-(store|queries|statement|view)\.ts$/.test(path);
    const isOwn = (path: string, one: string) =>
      sliceOf(one) === sliceOf(path) && !['root', 'platform'].includes(sliceOf(one));
    const importsOf = (path: string) => files.find((file) => file.path === path)?.imports ?? [];
    const isUseCase = (path: string) => importsOf(path).some((one) => isOwn(path, one) && isStore(one));
    const found = offenders(({ path, imports }) => {
      const target = imports.find(
        (one) =>
          isOwn(path, one) &&
          ((isRoutes(one) && !isRoutes(path)) || (isStore(path) && !isStore(one) && isUseCase(one))),
      );
      return target && `imports ${target}`;
    });
    assert.deepEqual(found, []);
  });
});
