import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fastify } from 'fastify';
import { readConfig } from '#server/platform/config.ts';
import { ConfigError } from '#server/platform/start-error.ts';
import { assertEach } from '#test/support/service/assert-each.ts';

describe('the settings (docs/configuration.md)', () => {
  it('all settings have defaults, which an empty environment gives (§6.3/retry-offsets, §6.5/allowed-ranges)', () => {
    const config = readConfig({}, 1000);
    assert.equal(config.baseUrl, 'http://127.0.0.1:3000');
    assert.equal(config.appUrl, config.baseUrl);
    assert.ok(config.dataDir.endsWith('/data'));
    assert.equal(config.databaseUrl, undefined);
    assert.equal(config.defaultPlan, 'enterprise');
    assert.equal(config.deviceHoldMs, 50_000);
    assert.equal(config.deviceLeaseMs, 600_000);
    assert.equal(config.queueExpiryMs, 86_400_000);
    assert.equal(config.rateLimits, true);
    assert.deepEqual(config.trustProxy, []);
    assert.equal(config.mail, undefined);
    assert.deepEqual([...config.processRoles], ['api', 'deliver', 'maintain']);
  });

  it('the default data directory of root is /var/lib/ownline', () => {
    assert.equal(readConfig({}, 0).dataDir, '/var/lib/ownline');
  });

  it('a trailing slash of an address is removed, and APP_URL is BASE_URL by default', () => {
    const config = readConfig({ BASE_URL: 'https://texts.example.com/' });
    assert.deepEqual(
      [config.baseUrl, config.appUrl],
      ['https://texts.example.com', 'https://texts.example.com'],
    );
    assert.equal(readConfig({ HOST: '::1', PORT: '8080' }).baseUrl, 'http://[::1]:8080');
  });

  it('a setting accepts its bounds, and refuses values beyond them', () => {
    const bounds: [string, number, number][] = [
      ['PORT', 1, 65_535],
      ['DEVICE_HOLD_SECONDS', 1, 50],
      ['DEVICE_LEASE_SECONDS', 30, 86_400],
      ['QUEUE_EXPIRY_HOURS', 1, 8_760],
      ['DELIVERY_LOG_DAYS', 1, 3_650],
      ['AUDIT_DAYS', 0, 3_650],
      ['RETENTION_DAYS', 0, 3_650],
    ];
    for (const [name, least, most] of bounds) {
      for (const taken of [least, most]) readConfig({ [name]: String(taken) });
      for (const refused of [least - 1, most + 1]) {
        assert.throws(() => readConfig({ [name]: String(refused) }), new RegExp(`${name} must be`));
      }
    }
  });

  /** Values that a setting refuses, and the beginning of the problem. Values without spaces are written in one text. */
  const refusals: readonly (readonly [name: string, problem: RegExp, values: string | readonly string[]])[] =
    [
      ['METRICS_TOKEN', /must be visible ASCII/, ['two words', 'schlüssel', 'a\tb']],
      ['HOST', /must be an address of this machine/, 'http://127.0.0.1 127.0.0.1:3000 [::1] -x not! a,b'],
      ['BASE_URL', /must be/, 'https://texts.example.com/?a=b https://texts.example.com/#top'],
      ['APP_URL', /must/, 'https://someone@texts.example.com ftp://texts.example.com'],
      [
        'BASE_URL',
        /must be an address without a path, such as https:\/\/texts\.example\.com, not/,
        'https://texts.example.com/api https://texts.example.com/a/b/ https://texts.example.com//x',
      ],
      ['BASE_URL', /can’t have \{team\}/, 'https://{team}.example.com'],
      [
        'DEVICE_URL',
        /may have \{team\} once, as a whole label of the host name, such as https:\/\/\{team\}\.example\.com, not/,
        `https://a{team}.example.com https://{team}-a.example.com https://{team} https://{team}:8443
       https://{team}.{team}.example.com https://{TEAM}.example.com https://{number}.example.com`,
      ],
      [
        'DEVICE_URL',
        /must be an address without a path/,
        'https://{team}.example.com/a https://a.com/{team}',
      ],
      ['DEVICE_URL', /must be an address such as/, 'ftp://{team}.a.com {team}.a.com https://a.com:{team}'],
      [
        'EGRESS_ALLOW_CIDRS',
        /must be/,
        '* localhost 0.0.0.0/0 10.0.0.0/7 10.0.0.0/33 ::/0 fc00::/6 10.0.0.0/8/8 10/8',
      ],
      ['TRUST_PROXY', /must be/, 'true * proxy.internal 10.0.0 10.0.0.0/0 10.0.0.0/33 ::/129 ::1/8/8 1/8'],
    ];
  for (const [name, problem, values] of refusals) {
    const all = typeof values === 'string' ? values.split(/\s+/) : values;
    it(`${name} is refused with the sentence ${problem.source}: ${all.length} values`, () => {
      for (const value of all)
        assert.throws(() => readConfig({ [name]: value }), new RegExp(`${name} ${problem.source}`), value);
    });
  }

  it('a setting that may hold a password is refused without being repeated in the error', () => {
    const secrets: Readonly<Record<string, string>> = {
      BASE_URL: `https://ada:secret@texts.example.com https://secret@texts.example.com https://:secret@texts.example.com
        https://ada:secret@texts!example.com:x`,
      APP_URL: 'https://ada:secret@texts.example.com https://secret@texts.example.com',
      DATABASE_URL: `postgresql://ownline:secret#1@db.example.com/ownline postgresql://ownline:secret/1@db.example.com/ownline
        postgresql://ownline:secret%zz@db.example.com/ownline postgresql://ownline:secret@db.example.com:99999/ownline`,
      SMTP_URL: `mail.example.com smtp:mail.example.com smtp:// smtp://user:secret@ https://user:secret@mail.example.com
        smtp://user@mail.example.com smtp://:secret@mail.example.com smtp://user:secret%zz@mail.example.com
        smtps://user:secret@mail.example.com/inbox smtps://user:secret@mail.example.com?tls.rejectUnauthorized=false
        smtps://user:secret@mail.example.com#secret smtps://user:secret@mail!example.com:x
        smtps://user:secret@mail.example.com:99999`,
    };
    for (const [name, values] of Object.entries(secrets)) {
      for (const value of [...values.split(/\s+/), 'https://ada:secret@texts example.com'])
        assert.throws(
          () => readConfig({ MAIL_FROM: 'texts@example.com', [name]: value }),
          ({ message }: Error) =>
            new RegExp(`^ {2}- ${name} must `, 'm').test(message) && !/secret|ada|inbox/.test(message),
          value,
        );
    }
  });

  it('METRICS_TOKEN has to fit into a header, and is empty by default', () => {
    assert.equal(readConfig({}).metricsToken, undefined);
    assert.equal(readConfig({ METRICS_TOKEN: ' ' }).metricsToken, undefined);
    assert.equal(readConfig({ METRICS_TOKEN: 'a+b/c=' }).metricsToken, 'a+b/c=');
  });

  it('APP_URL may have a path, and DEVICE_URL is BASE_URL by default and may have {team} as a label of its host', () => {
    const base = { BASE_URL: 'https://texts.example.com' };
    assert.equal(
      readConfig({ ...base, APP_URL: 'https://texts.example.com/app/' }).appUrl,
      'https://texts.example.com/app',
    );
    assert.equal(readConfig(base).deviceUrl, 'https://texts.example.com');
    for (const right of [
      'https://phones.example.com',
      'https://{team}.example.com',
      'https://a.{team}.example.com:8443',
    ])
      assert.equal(readConfig({ ...base, DEVICE_URL: `${right}/` }).deviceUrl, right);
  });

  it('HOST accepts addresses and names, and DATABASE_URL also sockets', () => {
    for (const host of ['127.0.0.1', '0.0.0.0', '::1', 'localhost', 'texts.example.com'])
      assert.equal(readConfig({ HOST: host }).host, host);
    for (const right of [
      'postgresql://ownline:p%40ss@db.example.com:5433/ownline?sslmode=verify-full',
      'postgres://db.example.com/ownline',
      'postgresql://ownline@/ownline?host=%2Fvar%2Frun&port=5432',
      'postgresql:///ownline?host=/var/run',
    ])
      assert.equal(readConfig({ DATABASE_URL: right }).databaseUrl, right);
  });

  it('a DATABASE_URL of several hosts is refused with a sentence that names haproxy, and a comma in a password is not', () => {
    for (const wrong of [
      'postgresql://ownline@a.example.com,b.example.com/ownline',
      'postgresql://ownline:p,w@a.example.com:5432,b.example.com:5433/ownline?target_session_attrs=read-write',
      'postgresql:///ownline?host=a.example.com%2Cb.example.com',
      'postgresql://ownline@/ownline?host=a.example.com&port=5432,5433',
      'postgresql://ownline@a.example.com/ownline?sslmode=require&target_session_attrs=primary',
    ])
      assert.throws(
        () => readConfig({ DATABASE_URL: wrong }),
        /DATABASE_URL names several hosts .* haproxy/,
        wrong,
      );
    const right = 'postgresql://ownline:p,w@a.example.com/ownline';
    assert.equal(readConfig({ DATABASE_URL: right }).databaseUrl, right);
  });

  it('the error for a misspelt variable names the most similar setting', () => {
    const meant = (names: readonly string[]) =>
      readConfig(Object.fromEntries(names.map((name) => [name, 'x']))).misspelt.map((sentence) =>
        /^(\S+) is not a setting and has no effect\. Did you mean (\S+)\?$/
          .exec(sentence)
          ?.slice(1)
          .join(' → '),
      );
    assert.deepEqual(
      meant(['DATABSE_URL', 'DATABASE_URI', 'BASEURL', 'LOGLEVEL', 'SECRET_KEY', 'ROLE', 'PROT']),
      [
        'DATABSE_URL → DATABASE_URL',
        'DATABASE_URI → DATABASE_URL',
        'BASEURL → BASE_URL',
        'LOGLEVEL → LOG_LEVEL',
        'SECRET_KEY → SECRETS_KEY',
        'ROLE → ROLES',
        'PROT → PORT',
      ],
    );
    assert.deepEqual(meant(['OWNLINE_PORT', 'OWNLINE_DATA_DIR']), [
      'OWNLINE_PORT → PORT',
      'OWNLINE_DATA_DIR → DATA_DIR',
    ]);
    const strangers =
      'HOME PATH USER SHELL LANG TERM PWD MAIL LOGNAME HOSTNAME EDITOR PAGER DISPLAY NODE_ENV NODE_OPTIONS npm_config_port ' +
      'PGPORT PGHOST REDIS_URL SMTP_HOST JAVA_HOME XDG_DATA_DIRS';
    assert.deepEqual(meant(strangers.split(' ')), []);
    assert.throws(
      () => readConfig({ PORT: 'x', DATABSE_URL: 'x' }),
      /PORT must be[\s\S]*DATABSE_URL is not a setting/,
      'a problem may be the mistake itself',
    );
  });

  it('EGRESS_ALLOW_CIDRS accepts addresses and ranges, no wider than private ones (§6.5/allowed-ranges)', () => {
    assert.deepEqual(readConfig({}).egressAllowed, []);
    const { egressAllowed } = readConfig({ EGRESS_ALLOW_CIDRS: '127.0.0.1, 10.0.0.0/8,fc00::/7 ,' });
    assertEach(egressAllowed, ({ bytes, prefix }) => [bytes.length, bytes[0], prefix].join(' '), [
      '4 127 32',
      '4 10 8',
      '16 252 7',
    ]);
  });

  it('TRUST_PROXY accepts addresses and ranges that the server can parse', () => {
    const right = ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '::ffff:10.0.0.1', 'loopback', '1.2.3.4/32'];
    const read = readConfig({ TRUST_PROXY: `${right.join(' , ')},` });
    assert.deepEqual(read.trustProxy, right);
    assert.doesNotThrow(() => fastify({ trustProxy: [...read.trustProxy] }));
  });

  it('SMTP_URL names the mail server and MAIL_FROM the sender, and each needs the other', () => {
    const read = (smtp: string, from = 'texts@example.com') =>
      readConfig({ SMTP_URL: smtp, MAIL_FROM: from }).mail;
    assert.deepEqual(read('smtps://me%40example.com:p%2Fw%23%3A@mail.example.com'), {
      server: {
        host: 'mail.example.com',
        port: 465,
        secure: true,
        login: { user: 'me@example.com', password: 'p/w#:' },
      },
      from: { name: '', address: 'texts@example.com' },
    });
    const plain = { host: 'mail.example.com', port: 587, secure: false, login: undefined };
    assert.deepEqual(read('smtp://mail.example.com/')?.server, plain);
    assert.deepEqual(read('smtp://127.0.0.1:25')?.server, { ...plain, host: '127.0.0.1', port: 25 });
    assert.deepEqual(read('smtp://[::1]:25')?.server, { ...plain, host: '::1', port: 25 });
    for (const [written, name] of [
      ['Example Ltd <texts@example.com>', 'Example Ltd'],
      ['"Example, Ltd" <texts@example.com>', 'Example, Ltd'],
      ['<texts@example.com>', ''],
      ['Grüße 👨‍👩‍👧 <texts@example.com>', 'Grüße 👨‍👩‍👧'],
    ] as const) {
      assert.deepEqual(read('smtp://localhost', written)?.from, { name, address: 'texts@example.com' });
    }
    assert.equal(readConfig({ MAIL_FROM: 'texts@example.com' }).mail, undefined);
  });

  it('a MAIL_FROM that is not a single address is refused, even if a second address or line is hidden in it', () => {
    for (const wrong of [
      'texts',
      'texts@',
      '@example.com',
      'a@b@example.com',
      'texts @example.com',
      'Example <texts@example.com',
      'Example texts@example.com',
      'one@example.com, two@example.com',
      'Example, Ltd <texts@example.com>',
      'Example <one@example.com> <two@example.com>',
      'Example\r\nBcc: you@example.com <texts@example.com>',
      '"Example\nBcc: you@example.com" <texts@example.com>',
      'Example <texts@example.com\r\nBcc:you@example.com>',
      `${'x'.repeat(65)}@example.com`,
      `texts@${'x'.repeat(190)}`,
    ]) {
      assert.throws(
        () => readConfig({ SMTP_URL: 'smtp://localhost', MAIL_FROM: wrong }),
        /^ {2}- MAIL_FROM must be an address such as/m,
        wrong,
      );
    }
    assert.throws(
      () => readConfig({ SMTP_URL: 'smtp://localhost' }),
      /MAIL_FROM must be set where SMTP_URL is/,
    );
  });

  it('an error lists the problems of all settings, each with advice', () => {
    const wrong = {
      PORT: '99999',
      BASE_URL: 'texts.example.com',
      DATABASE_URL: 'mysql://localhost/ownline',
      SECRETS_KEY: 'short',
      ROLES: 'api,cook',
      DEFAULT_PLAN: 'gold',
      DEVICE_HOLD_SECONDS: '60',
      QUEUE_EXPIRY_HOURS: 'a day',
      LOG_LEVEL: 'loud',
      RATE_LIMITS: 'maybe',
      TRUST_PROXY: '10.0.0.1, true',
      EGRESS_ALLOW_CIDRS: '10.0.0.0/8 172.16.0.0/12',
      SMTP_URL: 'mail.example.com',
      MAIL_FROM: 'texts',
    };
    assert.throws(
      () => readConfig(wrong),
      (error) => {
        assert.ok(error instanceof ConfigError);
        for (const name of Object.keys(wrong))
          assert.match(error.message, new RegExp(`^  - ${name} must `, 'm'));
        assert.match(error.message, /DEVICE_HOLD_SECONDS must be a whole number from 1 to 50, not "60"/);
        assert.ok(!error.message.includes('short'), 'a key is never repeated');
        return true;
      },
    );
    for (const ROLES of [',', 'api,', 'cook'])
      assert.throws(() => readConfig({ ROLES }), new RegExp(`ROLES must be .*, not "${ROLES}"`));
  });
});
