  it('the files of the glossary exist, and no file, export or column has a name that it rules out (docs/glossary.md)', () => {
    const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8');
    const rows = [...glossary.matchAll(/^\| ([^|]+) \| ([^|]+) \| ([^|]*) \| ([^|]*) \|$/gm)].filter(
      ([, term]) => term !== 'term',
    );
    assert.ok(rows.length > 60);
    const paths = rows.flatMap(([, , , , where = '']) => [...where.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path));
    assert.deepEqual(
      paths.filter((path) => !existsSync(join(root, path))),
      [],
      'files that are not there',
    );
    const banned = rows.flatMap(([, , , not = '']) => not.split(',').map((word) => word.trim())).filter(Boolean);
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
    const columns = [...schema.matchAll(/^ {2}(?:ADD COLUMN )?(\w+) (?:uuid|text|bytea|boolean|smallint|integer|bigint|date|timestamptz|jsonb)/gm)];
    assert.ok(columns.length > 200);
    const all = [...named, ...columns.map((match) => ({ name: match[1] ?? '', path: 'a column' }))];
    assert.deepEqual(
      all.filter(({ name }) => rule.test(words(name))).map(({ name, path }) => `${path}: ${name}`),
      [],
      'names that are ruled out',
    );
  });

  it('each table has an owner, and other slices write it only as the table of owners says (docs/architecture.md)', () => {
    const document = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    const owners = new Map(
      [...document.matchAll(/^\| `(\w+)` \| ([a-z-]+) \| ([^|]*) \|$/gm)].map(([, table = '', owner = '', others = '']) => [
        table,
        { owner, others: [...others.matchAll(/(?:^|; )([a-z-]+):/g)].map(([, slice = '']) => slice) },
      ]),
    );
    const schema = globSync('server/database/migrations/*.sql', { cwd: root })
      .map((path) => readFileSync(join(root, path), 'utf8'))
      .join('\n');
    const tables = [...schema.matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+) \(/gm)].map((match) => match[1] ?? '');
    assert.deepEqual([...owners.keys()].sort(), [...tables].sort(), 'a table without an owner, or an owner of none');
    const writers = new Map(tables.map((table) => [table, new Set<string>()]));
    for (const { path, text } of files.filter((file) => file.path.startsWith('server/'))) {
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
      for (const [, table = ''] of code.matchAll(/\b(?:INSERT INTO|UPDATE|DELETE FROM|MERGE INTO) (\w+)/g)) {
        writers.get(table)?.add(sliceOf(path));
      }
    }
    const found = [...writers].flatMap(([table, slices]) => {
      const { owner = '', others = [] } = owners.get(table) ?? {};
      const allowed = new Set([owner, ...others]);
      return [
        ...[...slices].filter((slice) => !allowed.has(slice)).map((slice) => `${slice} writes ${table} and is not named`),
        ...others.filter((slice) => !slices.has(slice)).map((slice) => `${slice} is named as a writer of ${table} and is none`),
      ];
    });
    assert.deepEqual(found, []);
  });

  it('the folders of a slice import one way', () => {
    const orders: Readonly<Record<string, readonly string[]>> = {
      'server/accounts': ['account', 'sessions', 'throttling', 'magic-links', 'passwords', 'passkeys', 'sign-in'],
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
    const inFolders = files.filter(({ path }) => Object.keys(orders).some((slice) => path.startsWith(`${slice}/`)));
    const flat = inFolders.filter(({ path }) => path.split('/').length === 3 && basename(path) !== 'limits.ts');
    assert.deepEqual(
      flat.map(({ path }) => path),
      [],
      'files of these slices belong into one of their folders',
    );
  });

  it('inside a slice, routes look down at use cases, use cases at rules and stores: nothing looks up', () => {
    // By the ending of its name: what a file is. Everything else is a use case or a rule.
    const kindOf = (path: string) =>
      /(^|[/-])routes?\.ts$/.test(path) ? 3 : /-(store|queries|statement|view)\.ts$|\/limits\.ts$/.test(path) ? 1 : 2;
    const found = offenders((file) => {
      const target = file.imports.find(
        (one) => sliceOf(one) === sliceOf(file.path) && sliceOf(one) !== 'root' && kindOf(one) > kindOf(file.path) && kindOf(one) === 3,
      );
      return target && `imports ${target}`;
    });
    assert.deepEqual(found, []);
  });
