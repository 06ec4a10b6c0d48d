import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { describe, it } from 'node:test';
import {
  files,
  isOurs,
  offenders,
  readImports,
  readSources,
  sliceOf,
} from '#test/support/architecture/sources.ts';
import { assertEach, assertNone } from '#test/support/service/assert-each.ts';

/** The slices in their order: each may import those before it (docs/architecture.md). */
const order = [
  'contract',
  'shortcut',
  'simulated-phone',
  'platform',
  'http',
  'database',
  'audit',
  'events',
  'mail',
  'accounts',
  'teams',
  'backups',
  'api-keys',
  'usage',
  'devices',
  'numbers',
  'media',
  'opt-outs',
  'contacts',
  'webhooks',
  'messages',
  'device-protocol',
  'dashboard',
  'erasure',
  'setup',
  'operations',
  'api-reference',
] as const;

/** True for a file that opens a slice or has its commands, and so may import all files of the slice. */
const isSlice = (path: string) =>
  /^(slice|\w+-commands?)\.ts$/.test(basename(path)) && !path.startsWith('server/database/');
const isInOrder = (slice: string) => order.some((known) => known === slice);

/** Pairs of slices that must not import each other, although their order would allow it. */
const strangers: readonly (readonly [string, string])[] = [
  ['events', 'mail'],
  ['api-keys', 'usage'],
  ['api-keys', 'devices'],
  ['api-keys', 'numbers'],
  ['api-keys', 'media'],
  ['api-keys', 'messages'],
  ['api-keys', 'device-protocol'],
  ['api-keys', 'webhooks'],
  ['usage', 'webhooks'],
  ['webhooks', 'media'],
  ['media', 'opt-outs'],
  ['opt-outs', 'webhooks'],
  ['webhooks', 'messages'],
  ['webhooks', 'device-protocol'],
];

describe('the direction of imports (docs/architecture.md)', () => {
  it('a slice imports only slices above it', () => {
    const found = files.flatMap((file) =>
      file.imports.filter(isOurs).flatMap((target) => {
        const [from, to] = [sliceOf(file.path), sliceOf(target)];
        if (from === 'root' || from === to || !isInOrder(from)) return [];
        const places = [from, to].map((slice) => order.indexOf(slice as (typeof order)[number]));
        const [fromPlace = -1, toPlace = -1] = places;
        const isStranger = strangers.some(([one, other]) => one === to && other === from);
        return toPlace >= 0 && toPlace < fromPlace && !isStranger ? [] : [`${file.path} imports ${target}`];
      }),
    );
    assert.deepEqual(found, []);
  });

  it('the order of slices contains every folder of server/', () => {
    const slices = new Set(files.map((file) => sliceOf(file.path)));
    const known = new Set<string>([...order, 'root', 'simulated-phone', 'webhook-listener']);
    assertNone([...slices], (slice) => !known.has(slice));
  });

  it('stores, views and rules of a slice do not import its routes', () => {
    const isLow = (path: string) => /-(store|view|status|statement)\.ts$/.test(path);
    const found = offenders(
      (file) =>
        isLow(file.path) && file.imports.some((target) => /routes?\.ts$/.test(target)) && 'imports a route',
    );
    assert.deepEqual(found, []);
  });

  it('no files import each other in a cycle', () => {
    const all = [...files, ...readSources('web/**/*.{ts,tsx}')];
    const importsOf = new Map(all.map((file) => [file.path, readImports(file).map(({ path }) => path)]));
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): string[] => {
      if (trail.includes(path)) return [[...trail.slice(trail.indexOf(path)), path].join(' -> ')];
      if (done.has(path)) return [];
      const found = (importsOf.get(path) ?? []).flatMap((target) => visit(target, [...trail, path]));
      done.add(path);
      return found;
    };
    assert.deepEqual(
      all.flatMap((file) => visit(file.path, [])),
      [],
    );
  });

  it('the imports between folders of a slice have one direction', () => {
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
            .filter(
              (target) =>
                !isSlice(file.path) && target.startsWith(`${slice}/`) && rank(target) > rank(file.path),
            )
            .map((target) => `${file.path} imports ${target}`),
        );
    });
    assert.deepEqual(found, []);
    const inFolders = files.filter(({ path }) =>
      Object.keys(orders).some((slice) => path.startsWith(`${slice}/`)),
    );
    const flat = inFolders.filter(
      ({ path }) => path.split('/').length === 3 && basename(path) !== 'limits.ts' && !isSlice(path),
    );
    assertEach(flat, ({ path }) => path, [], 'files of these slices belong into one of their folders');
  });

  it('only routes import routes of their slice, and its stores and views import no use case', () => {
    // A file is a use case if it imports a store of its slice. The ending of a file's name shows routes and stores.
    const isRoutes = (path: string) => /(^|[/-])routes?\.ts$/.test(path);
    const isStore = (path: string) => /-(store|statement|view)\.ts$/.test(path);
    const isOwn = (path: string, one: string) =>
      sliceOf(one) === sliceOf(path) && !['root', 'platform', 'http'].includes(sliceOf(one));
    const importsOf = (path: string) => files.find((file) => file.path === path)?.imports ?? [];
    const isUseCase = (path: string) => importsOf(path).some((one) => isOwn(path, one) && isStore(one));
    const found = offenders(({ path, imports }) => {
      const target = imports.find(
        (one) =>
          isOwn(path, one) &&
          ((isRoutes(one) && !isRoutes(path) && !isSlice(path)) ||
            (isStore(path) && !isStore(one) && isUseCase(one))),
      );
      return target && `imports ${target}`;
    });
    assert.deepEqual(found, []);
  });

  it('the shortcuts, the simulated phone and the webhook listener import nothing of the server', () => {
    const allowed: Readonly<Record<string, readonly string[]>> = {
      'shortcut/': ['shortcut/', 'contract/'],
      'simulated-phone/': ['simulated-phone/', 'shortcut/'],
      'webhook-listener/': ['webhook-listener/'],
    };
    const found = Object.entries(allowed).flatMap(([own, folders]) => {
      const isForeign = (target: string) =>
        !target.startsWith('node:') && !folders.some((folder) => target.startsWith(folder));
      return offenders((file) => file.path.startsWith(own) && file.imports.find(isForeign));
    });
    assert.deepEqual(found, []);
  });

  it('the dashboard uses the server over HTTP: web/ imports only the contract, and nothing imports web/', () => {
    const found = readSources('web/**/*.{ts,tsx}').flatMap(({ path, imports }) =>
      imports
        .filter((target) => /^(server|shortcut|simulated-phone|webhook-listener|test)\//.test(target))
        .map((target) => `${path} imports ${target}`),
    );
    assert.deepEqual(found, []);
    assert.deepEqual(
      offenders((file) => file.imports.find((target) => target.startsWith('web/'))),
      [],
    );
  });

  it('the generator of the shortcuts does not import the interpreter that tests it', () => {
    const found = offenders(
      (file) =>
        /^shortcut\/(?!interpreter\/)/.test(file.path) &&
        file.imports.find((target) => target.startsWith('shortcut/interpreter/')),
    );
    assert.deepEqual(found, []);
  });

  it('the campaign is a black-box test: it imports only its own files, Node, undici and, in one file, pg', () => {
    const campaign = readSources('campaign/**/*.ts');
    const foreign = (target: string) => !/^(node:|campaign\/|undici$|pg$)/.test(target);
    assert.ok(campaign.length > 10);
    const found = campaign.filter(
      (file) => file.imports.some(foreign) || /\bimport\(|#\w+\//.test(file.text),
    );
    assertEach(found, (file) => file.path, []);
    const readers = campaign.filter((file) => file.imports.includes('pg')).map((file) => file.path);
    assert.deepEqual(readers, ['campaign/failover/probe.ts']);
  });

  it('every outgoing HTTP request goes through platform/outbound-http (decision 0015) (§6.5/all-requests)', () => {
    const guard = /^server\/platform\/outbound-http\//;
    // Packages, each with the files that may import it: these connect to addresses that the operator chose.
    const others: Readonly<Record<string, RegExp>> = {
      nodemailer: /^server\/mail\/smtp-sender\.ts$/, // SMTP_URL
      pg: /^server\/(database|backups\/archive)\//, // DATABASE_URL, or the engine's own socket
    };
    const doctorClient = 'server/cli/doctor/public-client.ts';
    /** Modules whose only use for a server is to open connections. */
    const clients = /^(undici|(node:)?(https|http2|tls|dgram|dns|dns\/promises))$/;
    /** Exports of node:http and node:net that open no connection: listening sends no request. */
    const harmless = /^(type \w+|createServer|STATUS_CODES|isIP|isIPv4|isIPv6)$/;
    const ofItsOwn =
      /(?<![.\w#])(globalThis\.)?(fetch\(|new (WebSocket|EventSource)\()|\bimport\((?!'[#.@])|\b(createR|r)equire\((?!import\.meta\.url\)\.resolve)/;
    const found = offenders((file) => {
      if (/^(simulated-phone|shortcut\/interpreter)\//.test(file.path) || guard.test(file.path))
        return undefined;
      // `ownline doctor` calls the installation's own public address, which may be a private one.
      if (file.path === doctorClient) return undefined;
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
    const callers = files.filter(({ imports }) => imports.includes(doctorClient)).map(({ path }) => path);
    assert.ok(callers.length > 0);
    assertNone(
      callers,
      (path) => !path.startsWith('server/cli/doctor/'),
      'the command line alone uses that client',
    );
  });
});
