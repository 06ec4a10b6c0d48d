import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { type PacingMode, pacingModes } from '#contract/pacing.ts';
import { isPlanName, type PlanName, planNames } from '#contract/plans.ts';
import { type AddressRange, parseAddressRange } from '#server/platform/network/ip-address.ts';
import { namedRanges } from '#server/platform/network/trusted-proxies.ts';
import { ConfigError } from './config-error.ts';
import { parseSecretsKey } from './crypto.ts';
import { parseDatabaseUrl } from './database-address.ts';
import { type ArmedFailpoint, parseFailpoint } from './failpoint.ts';
import { isMailAddress, type NamedMailAddress, parseNamedMailAddress } from './mail-address.ts';
import { misspeltSettings } from './misspelt-settings.ts';
import {
  parseSignCommand,
  type ShortcutLinks,
  type SignCommand,
  shortcutLinkProblem,
} from './shortcut-settings.ts';

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
export interface Config {
  readonly host: string;
  readonly port: number;
  /** BASE_URL and APP_URL without a trailing slash. */
  readonly baseUrl: string;
  readonly appUrl: string;
  readonly trustProxy: readonly string[];
  readonly dataDir: string;
  /** DATABASE_URL; undefined for the embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** SECRETS_KEY; undefined for a key in a file in dataDir. */
  readonly secretsKey: Buffer | undefined;
  readonly processRoles: ReadonlySet<ProcessRole>;
  readonly defaultPlan: PlanName;
  /** RATE_LIMITS; false turns the rate limits per minute off, for benchmarks. */
  readonly rateLimits: boolean;
  /** Pacing of numbers without their own pacing (specification section 8). */
  readonly pacing: PacingMode;
  readonly deviceHoldMs: number;
  readonly deviceLeaseMs: number;
  readonly queueExpiryMs: number;
  /** Retention of messages, media and events; undefined keeps all for ever. */
  readonly retentionMs: number | undefined;
  readonly deliveryLogMs: number;
  /** Retention of the audit log; undefined keeps the log for ever. */
  readonly auditMs: number | undefined;
  /** The mail settings; undefined sends no mail, and links are shown for copying instead. */
  readonly mail: { readonly server: SmtpServer; readonly from: NamedMailAddress } | undefined;
  /** The nightly backup; undefined for none. */
  readonly backup:
    | { readonly folder: string; readonly keep: number; readonly passphraseFile: string | undefined }
    | undefined;
  /** Recipients of mail about the server itself; if empty, the owners of the oldest team. */
  readonly operatorEmails: readonly string[];
  /** Private address ranges that outgoing requests may reach (specification section 6.5). */
  readonly egressAllowed: readonly AddressRange[];
  /** Start times of a delivery's attempts, relative to the first attempt. */
  readonly webhookOffsetsMs: readonly number[];
  /** Time-out of one attempt, from the DNS look-up to the last byte. */
  readonly webhookTimeoutMs: number;
  /** Time-out of one try to fetch media, from the DNS look-up to the last byte. */
  readonly mediaTimeoutMs: number;
  /** Links to the shared shortcuts; undefined makes the setup page offer another way to install them. */
  readonly shortcutLinks: ShortcutLinks | undefined;
  readonly shortcutSignCommand: SignCommand | undefined;
  /** Bearer token of /metrics; undefined turns /metrics off. */
  readonly metricsToken: string | undefined;
  /** Whether systemd waits for a notification that the service is ready. */
  readonly notifiesSystemd: boolean;
  readonly logLevel: string;
  /** The failpoint at which a test has this process killed. */
  readonly failpoint: ArmedFailpoint | undefined;
  /** Sentences about environment variables that are probably misspelt settings. */
  readonly misspelt: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Loads the .env file of the working directory, if there is one. Variables that are set already win. */
export function loadEnvironment(): Environment {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return process.env;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Reads and checks all settings. @throws ConfigError that lists every problem */
export function readConfig(environment: Environment, userId = process.getuid?.()): Config {
  const problems: string[] = [];
  const known = new Set<string>();
  const text = (name: string) => {
    known.add(name);
    return environment[name]?.trim() || undefined;
  };

  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const written = text(name);
    if (written === undefined) return fallback;
    const value = /^\d+$/.test(written) ? Number(written) : Number.NaN;
    if (value >= min && value <= max) return value;
    problems.push(`${name} must be a whole number from ${min} to ${max}, not "${written}".`);
    return fallback;
  };

  const oneOf = <T extends string>(name: string, fallback: T, words: readonly T[]): T => {
    const written = text(name);
    const found = words.find((word) => word === written);
    if (written !== undefined && found === undefined) {
      problems.push(`${name} must be one of ${words.join(', ')}, not "${written}".`);
    }
    return found ?? fallback;
  };

  const address = (name: string, fallback: string): string => {
    const written = text(name);
    if (written === undefined) return fallback;
    const url = URL.canParse(written) ? new URL(written) : undefined;
    if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username) {
      return written.replace(/\/+$/, '');
    }
    problems.push(`${name} must be an address such as https://texts.example.com, not "${written}".`);
    return fallback;
  };

  /** Reads an address without a path, because clients append the API's paths to it. */
  const addressWithoutPath = (name: string, fallback: string): string => {
    const url = address(name, fallback);
    if (!URL.canParse(url) || new URL(url).pathname === '/') return url;
    problems.push(
      `${name} must be an address without a path, such as ${new URL(url).origin}, not "${url}": the API is served at the ` +
        'root of a host. Only APP_URL may have a path, which the proxy removes.',
    );
    return fallback;
  };

  const offsets = text('WEBHOOK_OFFSETS_SECONDS') ?? '0,10,60,300';
  const offsetsSeconds = parseOffsets(offsets);
  if (offsetsSeconds === undefined) {
    problems.push(
      `WEBHOOK_OFFSETS_SECONDS must be ${attemptsOfDelivery} whole numbers separated by commas, each larger than the one before, the first 0 and the last at most 86400, not "${offsets}".`,
    );
  }

  const failpoint = text('FAILPOINT');
  const armed = failpoint === undefined ? undefined : parseFailpoint(failpoint);
  if (failpoint !== undefined && armed === undefined) {
    problems.push(
      `FAILPOINT must be the name of a failpoint in the code, for tests only, not "${failpoint}".`,
    );
  }

  const host = text('HOST') ?? '127.0.0.1';
  if (isIP(host) === 0 && !isHostName(host)) {
    problems.push(`HOST must be an address of this machine, such as 127.0.0.1 or 0.0.0.0, not "${host}".`);
  }
  const port = integer('PORT', 3000, 1, 65_535);
  const hostInUrl = host.includes(':') ? `[${host}]` : host;
  const baseUrl = addressWithoutPath('BASE_URL', `http://${hostInUrl}:${port}`);

  const databaseUrl = text('DATABASE_URL');
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    problems.push(
      'DATABASE_URL must begin with postgresql://. Leave it out, and Ownline runs its own PostgreSQL.',
    );
  } else if (databaseUrl !== undefined && parseDatabaseUrl(databaseUrl) === undefined) {
    problems.push(
      'DATABASE_URL must be an address such as postgresql://role:password@db.example.com:5432/ownline; write special ' +
        'characters of the password as %40, %2F and so on.',
    );
  }

  const secretsKeyText = text('SECRETS_KEY');
  const secretsKey = secretsKeyText === undefined ? undefined : parseSecretsKey(secretsKeyText);
  if (secretsKeyText !== undefined && secretsKey === undefined) {
    problems.push('SECRETS_KEY must be 32 bytes in base64, as `openssl rand -base64 32` prints them.');
  }

  const chosenRoles = (text('ROLES') ?? processRoles.join(',')).split(',').map((word) => word.trim());
  const knownRoles = chosenRoles.flatMap((word) => processRoles.find((role) => role === word) ?? []);
  if (knownRoles.length !== chosenRoles.length || knownRoles.length === 0) {
    problems.push(`ROLES must be one or more of ${processRoles.join(',')}, not "${chosenRoles.join(',')}".`);
  }

  const trustProxy = (text('TRUST_PROXY') ?? '').split(',').flatMap((part) => part.trim() || []);
  const noProxy = trustProxy.find((part) => !isAddressOrRange(part));
  if (noProxy !== undefined) {
    problems.push(
      `TRUST_PROXY must be addresses or ranges such as 10.0.0.0/8, separated by commas, not "${noProxy}".`,
    );
  }

  const egressAllowed = (text('EGRESS_ALLOW_CIDRS') ?? '').split(',').flatMap((part) => {
    const written = part.trim();
    const range = parseEgressRange(written);
    if (!range && written !== '') {
      problems.push(
        'EGRESS_ALLOW_CIDRS must be addresses or ranges such as 10.0.0.0/8 or fd00::/8, none wider than /8 (of IPv6 /7), ' +
          `with commas, not "${written}".`,
      );
    }
    return range ?? [];
  });

  const defaultPlan = text('DEFAULT_PLAN') ?? 'enterprise';
  if (!isPlanName(defaultPlan)) {
    problems.push(`DEFAULT_PLAN must be one of ${planNames.join(', ')}, not "${defaultPlan}".`);
  }

  const smtpUrl = text('SMTP_URL');
  const server = smtpUrl === undefined ? undefined : parseSmtpUrl(smtpUrl);
  if (smtpUrl !== undefined && server === undefined) {
    problems.push(
      'SMTP_URL must be an address such as smtps://user:password@mail.example.com:465 or smtp://mail.example.com, ' +
        'without a path; write special characters of the password as %40, %2F and so on.',
    );
  }
  const mailFrom = text('MAIL_FROM');
  const from = mailFrom === undefined ? undefined : parseNamedMailAddress(mailFrom);
  if (mailFrom !== undefined && from === undefined) {
    problems.push(
      `MAIL_FROM must be an address such as texts@example.com or Example Ltd <texts@example.com>, not ${JSON.stringify(mailFrom)}.`,
    );
  }
  if (smtpUrl !== undefined && mailFrom === undefined) {
    problems.push(
      'MAIL_FROM must be set where SMTP_URL is: the address that mail comes from, such as texts@example.com.',
    );
  }

  const operatorEmails = (text('OPERATOR_EMAIL') ?? '').split(',').flatMap((part) => part.trim() || []);
  const noAddress = operatorEmails.find((part) => !isMailAddress(part));
  if (noAddress !== undefined) {
    problems.push(
      `OPERATOR_EMAIL must be mail addresses such as ops@example.com, separated by commas, not ${JSON.stringify(noAddress)}.`,
    );
  }
  const backupFolder = text('BACKUP_DIR');
  const passphraseFile = text('BACKUP_PASSPHRASE_FILE');
  const backupKeep = integer('BACKUP_KEEP', 7, 1, 1_000);

  const outbox = text('SHORTCUT_OUTBOX_URL');
  const inbound = text('SHORTCUT_INBOUND_URL');
  for (const [name, url] of Object.entries({ SHORTCUT_OUTBOX_URL: outbox, SHORTCUT_INBOUND_URL: inbound })) {
    const problem = url === undefined ? undefined : shortcutLinkProblem(name, url);
    if (problem !== undefined) problems.push(problem);
  }
  if ((outbox === undefined) !== (inbound === undefined)) {
    problems.push(
      'SHORTCUT_OUTBOX_URL and SHORTCUT_INBOUND_URL must be set together: a phone needs both shortcuts.',
    );
  }
  const signCommandText = text('SHORTCUT_SIGN_COMMAND');
  const shortcutSignCommand =
    signCommandText === undefined ? undefined : parseSignCommand(signCommandText, environment);
  if (signCommandText !== undefined && shortcutSignCommand === undefined) {
    problems.push(
      'SHORTCUT_SIGN_COMMAND must be a program and its arguments, with {in} for the file to sign and {out} for the ' +
        `signed one, such as /opt/ownline/sign-on-mac {in} {out}, not "${signCommandText}". Quotes group; no shell reads it.`,
    );
  }

  const metricsToken = text('METRICS_TOKEN');
  if (metricsToken !== undefined && !/^[\x21-\x7e]+$/.test(metricsToken)) {
    problems.push(
      'METRICS_TOKEN must be visible ASCII characters without spaces, as `openssl rand -hex 32` prints them.',
    );
  }

  const config: Omit<Config, 'misspelt'> = {
    host,
    port,
    baseUrl,
    appUrl: address('APP_URL', baseUrl),
    trustProxy,
    dataDir: resolve(text('DATA_DIR') ?? (userId === 0 ? '/var/lib/ownline' : './data')),
    databaseUrl,
    secretsKey,
    processRoles: new Set(knownRoles),
    defaultPlan: isPlanName(defaultPlan) ? defaultPlan : 'enterprise',
    pacing: oneOf('PACING', 'gentle', pacingModes),
    rateLimits: oneOf('RATE_LIMITS', 'on', ['on', 'off']) === 'on',
    deviceHoldMs: integer('DEVICE_HOLD_SECONDS', 25, 1, 50) * 1_000,
    deviceLeaseMs: integer('DEVICE_LEASE_SECONDS', 600, 30, 86_400) * 1_000,
    queueExpiryMs: integer('QUEUE_EXPIRY_HOURS', 24, 1, 8_760) * 3_600_000,
    mail: server && from ? { server, from } : undefined,
    backup:
      backupFolder === undefined
        ? undefined
        : {
            folder: resolve(backupFolder),
            keep: backupKeep,
            passphraseFile: passphraseFile === undefined ? undefined : resolve(passphraseFile),
          },
    operatorEmails,
    egressAllowed,
    webhookOffsetsMs: (offsetsSeconds ?? []).map((seconds) => seconds * 1_000),
    webhookTimeoutMs: integer('WEBHOOK_TIMEOUT_MS', 10_000, 100, 30_000),
    mediaTimeoutMs: integer('MEDIA_TIMEOUT_MS', 60_000, 100, 300_000),
    retentionMs: integer('RETENTION_DAYS', 0, 0, 3_650) * 86_400_000 || undefined,
    deliveryLogMs: integer('DELIVERY_LOG_DAYS', 30, 1, 3_650) * 86_400_000,
    shortcutLinks: outbox !== undefined && inbound !== undefined ? { outbox, inbound } : undefined,
    shortcutSignCommand,
    metricsToken,
    notifiesSystemd: text('NOTIFY_SOCKET') !== undefined,
    auditMs: integer('AUDIT_DAYS', 0, 0, 3_650) * 86_400_000 || undefined,
    failpoint: armed,
    logLevel: oneOf('LOG_LEVEL', 'info', logLevels),
  };
  const misspelt = misspeltSettings(Object.keys(environment), known);
  if (problems.length > 0) throw new ConfigError([...problems, ...misspelt]);
  return { ...config, misspelt };
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
  const isGrowing = offsets.every((offset, place) => offset > (offsets[place - 1] ?? -1) && offset <= 86_400);
  return offsets.length === attemptsOfDelivery && offsets[0] === 0 && isGrowing ? offsets : undefined;
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
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
