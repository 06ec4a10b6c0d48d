import { hostname } from 'node:os';
import { settingsChannel } from '#server/database/channels.ts';
import type { Database } from '#server/database/database.ts';
import { statement } from '#server/database/statement.ts';
import type { Config } from '#server/platform/config.ts';
import type { Logger } from '#server/platform/process/logger.ts';

const tell = statement<{ pg_notify: string }>('settings.tell', 'SELECT pg_notify($1, $2)');

interface Told {
  /** `host pid`. */
  readonly process: string;
  /** Asks the others for theirs. */
  readonly asks: boolean;
  readonly settings: Readonly<Record<string, string>>;
}

/** What has to be equal in all processes, by its name in docs/configuration.md. Nothing of it is secret. */
export function sharedSettings(config: Config): Readonly<Record<string, string>> {
  const { mail } = config;
  return {
    BASE_URL: config.baseUrl,
    APP_URL: config.appUrl,
    EGRESS_ALLOW_CIDRS: config.egressAllowed
      .map(({ bytes, prefix }) => `${Buffer.from(bytes).toString('hex')}/${prefix}`)
      .sort()
      .join(','),
    SMTP_URL: mail === undefined ? '' : `${mail.server.host}:${mail.server.port}`,
    MAIL_FROM: mail?.from.address ?? '',
    DEFAULT_PLAN: config.defaultPlan,
    RATE_LIMITS: String(config.rateLimits),
    DEVICE_HOLD_SECONDS: String(config.deviceHoldMs),
    DEVICE_LEASE_SECONDS: String(config.deviceLeaseMs),
    QUEUE_EXPIRY_HOURS: String(config.queueExpiryMs),
    WEBHOOK_OFFSETS_SECONDS: config.webhookOffsetsMs.join(','),
    WEBHOOK_TIMEOUT_MS: String(config.webhookTimeoutMs),
    DELIVERY_LOG_DAYS: String(config.deliveryLogMs),
    AUDIT_DAYS: String(config.auditMs ?? 0),
  };
}

/**
 * Compares settings with those of all processes of the database (specification section 10.3): each tells its own when it
 * begins to listen, and the others answer with theirs. A difference is logged once, on both sides.
 */
export class SettingsComparison {
  readonly #services: { readonly database: Pick<Database, 'pool'>; readonly logger: Logger };
  readonly #own: Readonly<Record<string, string>>;
  readonly #process: string;
  readonly #logged = new Set<string>();

  constructor(
    services: { readonly database: Pick<Database, 'pool'>; readonly logger: Logger },
    config: Config,
    ownProcess = `${hostname()} ${process.pid}`,
  ) {
    this.#services = services;
    this.#own = sharedSettings(config);
    this.#process = ownProcess;
  }

  /** @param payload '' where the connection is new: whoever started meanwhile was not heard */
  hear(payload: string): void {
    if (payload === '') {
      this.#tell(true);
      return;
    }
    const told = parse(payload);
    if (!told || told.process === this.#process) return;
    if (told.asks) this.#tell(false);
    for (const [name, value] of Object.entries(this.#own)) {
      const other = told.settings[name];
      // Another version may not know the setting.
      if (other !== undefined && other !== value) this.#log(name, told.process);
    }
  }

  #log(name: string, other: string): void {
    const key = `${name} ${other}`;
    if (this.#logged.has(key)) return;
    if (this.#logged.size >= 1_000) this.#logged.clear();
    this.#logged.add(key);
    this.#services.logger.warn(
      `${name} is another one in this process (${this.#process}) than in a process on the same database (${other}). Set it alike in all of them.`,
    );
  }

  #tell(asks: boolean): void {
    const told: Told = { process: this.#process, asks, settings: this.#own };
    tell.row(this.#services.database.pool, settingsChannel, JSON.stringify(told)).catch((error: unknown) => {
      this.#services.logger.debug({ err: error }, 'settings were not compared');
    });
  }
}

function parse(payload: string): Told | undefined {
  try {
    return JSON.parse(payload) as Told;
  } catch {
    return undefined;
  }
}
