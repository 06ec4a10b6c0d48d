import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { pacingModes } from '#contract/pacing.ts';
import { type PlanName, planNames } from '#contract/plans.ts';
import { type AddressRange, parseAddressRange } from '#server/platform/network/ip-address.ts';
import { namedRanges } from '#server/platform/network/trusted-proxies.ts';
import { parseSecretsKey } from './crypto.ts';
import { parseFailpoint } from './failpoint.ts';
import { isMailAddress, parseNamedMailAddress } from './mail-address.ts';
import { misspeltSettings, parseDatabaseUrl, SettingReader } from './setting-reader.ts';
import { parseSignCommand, readShortcutLinks } from './shortcut-settings.ts';
import { ConfigError } from './start-error.ts';
import { decodePercent } from './text.ts';

/** Process roles: parts of the work that a process can take on, listed in ROLES (docs/configuration.md). */
const processRoles = ['api', 'deliver', 'maintain'] as const;
export type ProcessRole = (typeof processRoles)[number];

/** The server that mail is sent through (specification section 10.6). */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Whether TLS begins with the first byte (smtps://); otherwise STARTTLS is used. */
  readonly secure: boolean;
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

/** All settings. Only this file reads and checks them (docs/configuration.md). */
export type Config = Readonly<ReturnType<typeof readConfig>>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Loads the .env file of the working directory, if there is one. Variables that are set already win. */
export function loadEnvironment(): Environment {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return process.env;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Reads and checks all settings. @throws ConfigError that lists every problem */
export function readConfig(environment: Environment, userId = process.getuid?.()) {
  const settings = new SettingReader(environment);
  const host =
    settings.parsed(
      'HOST',
      (text) => (isIP(text) !== 0 || isHostName(text) ? text : undefined),
      (text) => `HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0, not "${text}".`,
    ) ?? '127.0.0.1';
  const port = settings.integer('PORT', 3000, 1, 65_535);
  const hostInUrl = host.includes(':') ? `[${host}]` : host;
  const baseUrl = settings.addressWithoutPath('BASE_URL', `http://${hostInUrl}:${port}`);
  const config = {
    host,
    port,
    /** BASE_URL and APP_URL without a trailing slash. */
    baseUrl,
    appUrl: settings.address('APP_URL', baseUrl),
    /** DEVICE_URL without a trailing slash; `{team}` in it stands for a routing tag. */
    deviceUrl: readDeviceUrl(settings, baseUrl),
    trustProxy: settings.parsedList(
      'TRUST_PROXY',
      (part) => (isAddressOrRange(part) ? part : undefined),
      (part) =>
        `TRUST_PROXY must be addresses or ranges such as 10.0.0.0/8, separated by commas, not "${part}".`,
    ),
    dataDir: resolve(settings.text('DATA_DIR') ?? (userId === 0 ? '/var/lib/ownline' : './data')),
    /** DATABASE_URL; undefined for the embedded PostgreSQL. */
    databaseUrl: readDatabaseUrl(settings),
    /** SECRETS_KEY; undefined for a key in a file in dataDir. */
    secretsKey: settings.parsed(
      'SECRETS_KEY',
      parseSecretsKey,
      () => 'SECRETS_KEY must be 32 bytes in base64, as `openssl rand -base64 32` prints them.',
    ),
    processRoles: readProcessRoles(settings),
    defaultPlan: settings.oneOf('DEFAULT_PLAN', 'enterprise', planNames),
    /** PLAN_CHANGES: the largest plan that a team's owners may choose themselves; undefined leaves plans to the operator. */
    largestChosenPlan: readPlanChanges(settings),
    /** Pacing of numbers without their own pacing (specification section 8). */
    pacing: settings.oneOf('PACING', 'gentle', pacingModes),
    /** RATE_LIMITS; false turns the rate limits per minute off, for benchmarks. */
    rateLimits: settings.oneOf('RATE_LIMITS', 'on', ['on', 'off']) === 'on',
    deviceHoldMs: settings.integer('DEVICE_HOLD_SECONDS', 50, 1, 50) * 1_000,
    deviceLeaseMs: settings.integer('DEVICE_LEASE_SECONDS', 600, 30, 86_400) * 1_000,
    queueExpiryMs: settings.integer('QUEUE_EXPIRY_HOURS', 24, 1, 8_760) * 3_600_000,
    /** The mail settings; undefined sends no mail, and links are shown for copying instead. */
    mail: readMail(settings),
    /** The nightly backup; undefined for none. */
    backup: readBackup(settings),
    /**
     * Recipients of mail about the server itself. The page of plans names them to owners who need another plan. Without
     * recipients, such mail goes to the owners of the oldest team.
     */
    operatorEmails: settings.parsedList(
      'OPERATOR_EMAIL',
      (part) => (isMailAddress(part) ? part : undefined),
      (part) =>
        `OPERATOR_EMAIL must be mail addresses such as ops@example.com, separated by commas, not ${JSON.stringify(part)}.`,
    ),
    /** Private address ranges that outgoing requests may reach (specification section 6.5). */
    egressAllowed: settings.parsedList(
      'EGRESS_ALLOW_CIDRS',
      parseEgressRange,
      (part) =>
        'EGRESS_ALLOW_CIDRS must be addresses or ranges such as 10.0.0.0/8 or fd00::/8, none wider than /8 (of IPv6 /7), ' +
        `with commas, not "${part}".`,
    ),
    /** Start times of a delivery's attempts, relative to the first attempt. */
    webhookOffsetsMs: readWebhookOffsets(settings),
    /** Time-out of one attempt, from the DNS look-up to the last byte. */
    webhookTimeoutMs: settings.integer('WEBHOOK_TIMEOUT_MS', 10_000, 100, 30_000),
    /** Time-out of one try to fetch media, from the DNS look-up to the last byte. */
    mediaTimeoutMs: settings.integer('MEDIA_TIMEOUT_MS', 60_000, 100, 300_000),
    /** Retention of messages, media and events; undefined keeps all for ever. */
    retentionMs: settings.integer('RETENTION_DAYS', 0, 0, 3_650) * 86_400_000 || undefined,
    deliveryLogMs: settings.integer('DELIVERY_LOG_DAYS', 30, 1, 3_650) * 86_400_000,
    /** Links to the shared shortcuts by the iOS that they are for: 26 stands for iOS 17 to 26. */
    shortcutLinks: {
      26: readShortcutLinks(settings, 'SHORTCUT_OUTBOX_URL', 'SHORTCUT_INBOUND_URL'),
      27: readShortcutLinks(settings, 'SHORTCUT_OUTBOX_27_URL', 'SHORTCUT_INBOUND_27_URL'),
    },
    shortcutSignCommand: settings.parsed(
      'SHORTCUT_SIGN_COMMAND',
      (text) => parseSignCommand(text, environment),
      (text) =>
        'SHORTCUT_SIGN_COMMAND must be a program and its arguments, with {in} for the file to sign and {out} for the ' +
        `signed one, such as /usr/local/bin/sign-on-mac {in} {out}, not "${text}". Quotes group; no shell reads it.`,
    ),
    /** Bearer token of /metrics; undefined turns /metrics off. */
    metricsToken: settings.parsed(
      'METRICS_TOKEN',
      (text) => (/^[\x21-\x7e]+$/.test(text) ? text : undefined),
      () =>
        'METRICS_TOKEN must be visible ASCII characters without spaces, as `openssl rand -hex 32` prints them.',
    ),
    /** STOP_DELAY_SECONDS; less than the time that a part has to close. */
    stopDelayMs: settings.integer('STOP_DELAY_SECONDS', 0, 0, 15) * 1_000,
    /** Whether systemd waits for a notification that the service is ready. */
    notifiesSystemd: settings.text('NOTIFY_SOCKET') !== undefined,
    /** Retention of the audit log; undefined keeps the log for ever. */
    auditMs: settings.integer('AUDIT_DAYS', 0, 0, 3_650) * 86_400_000 || undefined,
    /** The failpoint at which this process is killed; only tests set it. */
    failpoint: settings.parsed(
      'FAILPOINT',
      parseFailpoint,
      (text) => `FAILPOINT must be the name of a failpoint in the code, for tests only, not "${text}".`,
    ),
    logLevel: settings.oneOf('LOG_LEVEL', 'info', logLevels),
  };
  const misspelt = misspeltSettings(Object.keys(environment), settings.names);
  if (settings.problems.length > 0) throw new ConfigError([...settings.problems, ...misspelt]);
  return {
    ...config,
    /** Sentences about environment variables that are probably misspelt settings. */
    misspelt,
  };
}

function readDeviceUrl(settings: SettingReader, baseUrl: string): string {
  for (const name of ['BASE_URL', 'APP_URL']) {
    if (settings.text(name)?.includes('{team}'))
      settings.problems.push(`${name} can’t have {team}: only DEVICE_URL may, the address that phones call.`);
  }
  const url = settings.addressWithoutPath('DEVICE_URL', baseUrl);
  if (settings.text('DEVICE_URL') && /[{}]/.test(url.replace(/(?<=\/\/|\.)\{team\}(?=\.)/, 'team'))) {
    settings.problems.push(
      'DEVICE_URL may have {team} once, as a whole label of the host name, such as https://{team}.example.com, ' +
        `not "${url}".`,
    );
  }
  return url;
}

/** A DATABASE_URL of several hosts or ports, or one that chooses among hosts. */
const severalHosts =
  /^postgres(ql)?:\/\/([^/?#]*@)?(?![^/?#]*@)[^/?#]*,|[?&](host|port)=[^&]*(,|%2c)|[?&]target_session_attrs=/i;

function readDatabaseUrl(settings: SettingReader): string | undefined {
  const isPostgres = (text: string) => /^postgres(ql)?:\/\//.test(text);
  const isOneHost = (text: string) => !severalHosts.test(text) && parseDatabaseUrl(text) !== undefined;
  return settings.parsed(
    'DATABASE_URL',
    (text) => (isPostgres(text) && isOneHost(text) ? text : undefined),
    (text) => {
      if (isPostgres(text) && severalHosts.test(text)) {
        return (
          'DATABASE_URL names several hosts or target_session_attrs, and Ownline connects to one address only. Name that of a ' +
          'haproxy that leads to the primary.'
        );
      }
      return isPostgres(text)
        ? 'DATABASE_URL must be an address such as postgresql://role:password@db.example.com:5432/ownline; write special ' +
            'characters of the password as %40, %2F and so on.'
        : 'DATABASE_URL must begin with postgresql://. Leave it out, and Ownline runs its own PostgreSQL.';
    },
  );
}

function readProcessRoles(settings: SettingReader): ReadonlySet<ProcessRole> {
  const parse = (text: string) => {
    const roles = text.split(',').map((part) => processRoles.find((role) => role === part.trim()));
    return roles.every((role) => role !== undefined) ? roles : undefined;
  };
  const problem = (text: string) => `ROLES must be one or more of ${processRoles.join(',')}, not "${text}".`;
  return new Set(settings.parsed('ROLES', parse, problem) ?? processRoles);
}

function readMail(settings: SettingReader) {
  const server = settings.parsed(
    'SMTP_URL',
    parseSmtpUrl,
    () =>
      'SMTP_URL must be an address such as smtps://user:password@mail.example.com:465 or smtp://mail.example.com, ' +
      'without a path; write special characters of the password as %40, %2F and so on.',
  );
  const from = settings.parsed(
    'MAIL_FROM',
    parseNamedMailAddress,
    (text) =>
      `MAIL_FROM must be an address such as texts@example.com or Example Ltd <texts@example.com>, not ${JSON.stringify(text)}.`,
  );
  if (settings.text('SMTP_URL') !== undefined && settings.text('MAIL_FROM') === undefined) {
    settings.problems.push(
      'MAIL_FROM must be set where SMTP_URL is: the address that mail comes from, such as texts@example.com.',
    );
  }
  return server && from ? { server, from } : undefined;
}

function readBackup(settings: SettingReader) {
  const folder = settings.text('BACKUP_DIR');
  const keep = settings.integer('BACKUP_KEEP', 7, 1, 1_000);
  const file = settings.text('BACKUP_PASSPHRASE_FILE');
  const passphraseFile = file === undefined ? undefined : resolve(file);
  return folder === undefined ? undefined : { folder: resolve(folder), keep, passphraseFile };
}

function readPlanChanges(settings: SettingReader): PlanName | undefined {
  const changes = settings.parsed(
    'PLAN_CHANGES',
    (text) => ['operator', ...planNames.map((plan) => `owner:${plan}`)].find((known) => known === text),
    (text) =>
      `PLAN_CHANGES must be operator, or owner: with the largest plan that owners may choose, such as owner:pro (${planNames.join(', ')}), not "${text}".`,
  );
  return planNames.find((plan) => changes === `owner:${plan}`);
}

function readWebhookOffsets(settings: SettingReader): number[] {
  const offsetsSeconds = settings.parsed(
    'WEBHOOK_OFFSETS_SECONDS',
    parseOffsets,
    (text) =>
      `WEBHOOK_OFFSETS_SECONDS must be ${attemptsOfDelivery} whole numbers separated by commas, each larger than the one before, the first 0 and the last at most 86400, not "${text}".`,
  );
  return (offsetsSeconds ?? [0, 10, 60, 300]).map((seconds) => seconds * 1_000);
}

/**
 * Parses `smtps://user:password@mail.example.com:465`. Default ports are 465 for smtps and 587 for smtp.
 * @returns undefined for any other text, including URLs with parameters, which could turn TLS checks off
 */
function parseSmtpUrl(text: string): SmtpServer | undefined {
  const parts = URL.canParse(text) ? new URL(text) : undefined;
  if (!parts || !/^smtps?:$/.test(parts.protocol)) return undefined;
  const host = parts.hostname.replace(/^\[(.*)\]$/, '$1');
  const isHost = isIP(host) !== 0 || isHostName(host);
  if (!isHost || !/^\/?$/.test(parts.pathname) || parts.search || parts.hash) return undefined;
  const user = decodePercent(parts.username);
  const password = decodePercent(parts.password);
  if (user === undefined || password === undefined || (user === '') !== (password === '')) return undefined;
  const secure = parts.protocol === 'smtps:';
  return {
    host,
    port: parts.port === '' ? (secure ? 465 : 587) : Number(parts.port),
    secure,
    login: user === '' ? undefined : { user, password },
  };
}

function isHostName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text);
}

/** Number of attempts of a delivery (specification section 6.3). */
const attemptsOfDelivery = 4;

/** Parses `0,10,60,300`. @returns undefined for any other text */
function parseOffsets(text: string): number[] | undefined {
  const parts = text.split(',').map((part) => part.trim());
  const offsets = parts.map((part) => (/^\d{1,5}$/.test(part) ? Number(part) : Number.NaN));
  const isGrowing = offsets.every((offset, index) => offset > (offsets[index - 1] ?? -1) && offset <= 86_400);
  return offsets.length === attemptsOfDelivery && offsets[0] === 0 && isGrowing ? offsets : undefined;
}

/** Accepts `10.0.0.1`, `10.0.0.0/8`, `fd00::/8` and named ranges such as loopback. */
function isAddressOrRange(text: string): boolean {
  if (Object.hasOwn(namedRanges, text)) return true;
  const range = parseAddressRange(text);
  return range !== undefined && range.prefix >= 1;
}

/** Accepts ranges up to the widest private one, so that a mistyped range cannot allow most of the internet. */
function parseEgressRange(text: string): AddressRange | undefined {
  const range = parseAddressRange(text);
  return range && range.prefix >= (range.bytes.length === 4 ? 8 : 7) ? range : undefined;
}
