import { hostname } from 'node:os';
import { settingsChannel } from '#server/database/channels.ts';
import { query } from '#server/database/query.ts';
import type { Runtime } from '#server/database/runtime.ts';
import type { Config } from '#server/platform/config.ts';

const notifySettings = query<{ channel: string; payload: string }>(
  'settings.notify',
  'SELECT pg_notify(:channel, :payload)',
).run;

interface SettingsMessage {
  /** Host name and process id of the sender, with a space between. */
  readonly process: string;
  /** True if the other processes should reply with their settings. */
  readonly asks: boolean;
  readonly settings: Readonly<Record<string, string>>;
}

/** Settings that must be equal in all processes, by their names in docs/configuration.md. None of them is secret. */
function sharedSettings(config: Config): Readonly<Record<string, string>> {
  const { mail } = config;
  return {
    BASE_URL: config.baseUrl,
    APP_URL: config.appUrl,
    DEVICE_URL: config.deviceUrl,
    EGRESS_ALLOW_CIDRS: config.egressAllowed
      .map(({ bytes, prefix }) => `${Buffer.from(bytes).toString('hex')}/${prefix}`)
      .sort()
      .join(','),
    SMTP_URL: mail === undefined ? '' : `${mail.server.host}:${mail.server.port}`,
    MAIL_FROM: mail?.from.address ?? '',
    DEFAULT_PLAN: config.defaultPlan,
    PLAN_CHANGES: config.largestChosenPlan ?? 'operator',
    OPERATOR_EMAIL: config.operatorEmails.join(','),
    RATE_LIMITS: String(config.rateLimits),
    PACING: config.pacing,
    DEVICE_HOLD_SECONDS: String(config.deviceHoldMs),
    DEVICE_LEASE_SECONDS: String(config.deviceLeaseMs),
    QUEUE_EXPIRY_HOURS: String(config.queueExpiryMs),
    WEBHOOK_OFFSETS_SECONDS: config.webhookOffsetsMs.join(','),
    WEBHOOK_TIMEOUT_MS: String(config.webhookTimeoutMs),
    RETENTION_DAYS: String(config.retentionMs ?? 0),
    DELIVERY_LOG_DAYS: String(config.deliveryLogMs),
    AUDIT_DAYS: String(config.auditMs ?? 0),
    BACKUP_DIR: config.backup?.folder ?? '',
  };
}

/**
 * Compares settings between all processes on the database (specification section 10.3). Each process notifies the
 * others of its settings when it begins to listen, and they reply with theirs. Both sides log a difference, once.
 */
export class SettingsComparison {
  readonly #services: Runtime;
  readonly #own: Readonly<Record<string, string>>;
  readonly #process: string;
  readonly #logged = new Set<string>();

  constructor(services: Runtime, config: Config, ownProcess = `${hostname()} ${process.pid}`) {
    this.#services = services;
    this.#own = sharedSettings(config);
    this.#process = ownProcess;
  }

  /** @param payload '' after the listener has connected anew: notifications may have been missed */
  onNotification(payload: string): void {
    if (payload === '') {
      this.#notify(true);
      return;
    }
    const message = parse(payload);
    if (!message || message.process === this.#process) return;
    if (message.asks) this.#notify(false);
    for (const [name, value] of Object.entries(this.#own)) {
      const other = message.settings[name];
      // A process of another version may lack this setting; then nothing is compared.
      if (other !== undefined && other !== value) this.#log(name, message.process);
    }
  }

  #log(name: string, other: string): void {
    const key = `${name} ${other}`;
    if (this.#logged.has(key)) return;
    if (this.#logged.size >= 1_000) this.#logged.clear();
    this.#logged.add(key);
    this.#services.logger.warn(
      `${name} differs between this process (${this.#process}) and another one on the same database (${other}). Set the same value in all processes.`,
    );
  }

  #notify(asks: boolean): void {
    const message: SettingsMessage = { process: this.#process, asks, settings: this.#own };
    const payload = JSON.stringify(message);
    notifySettings(this.#services.database.pool, { channel: settingsChannel, payload }).catch(
      (error: unknown) => {
        this.#services.logger.debug({ err: error }, 'settings were not compared');
      },
    );
  }
}

function parse(payload: string): SettingsMessage | undefined {
  try {
    return JSON.parse(payload) as SettingsMessage;
  } catch {
    return undefined;
  }
}
