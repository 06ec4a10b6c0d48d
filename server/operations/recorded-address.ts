import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#server/platform/config.ts';
import { fileErrorSentence } from '#server/platform/error-code.ts';
import type { Lifecycle } from '#server/platform/process/lifecycle.ts';
import type { Logger } from '#server/platform/process/logger.ts';

/** The settings that a service's address consists of (docs/configuration.md). */
export const addressSettings = ['HOST', 'PORT', 'BASE_URL', 'APP_URL', 'DEVICE_URL'] as const;

type RecordedAddress = Readonly<Record<(typeof addressSettings)[number], string>>;

/** The path of the record: a JSON object that has the name and value of each address setting. */
export function addressRecord({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'address.json');
}

/**
 * Records the address of a service that listens, for commands that run without its settings. The stop removes
 * the record, unless another process on the same DATA_DIR has replaced it. A record that can't be written is logged:
 * the service does not need it.
 */
export async function recordAddress(config: Config, logger: Logger, lifecycle: Lifecycle): Promise<void> {
  const record = addressRecord(config);
  const address: RecordedAddress = {
    HOST: config.host,
    PORT: String(config.port),
    BASE_URL: config.baseUrl,
    APP_URL: config.appUrl,
    DEVICE_URL: config.deviceUrl,
  };
  const text = `${JSON.stringify(address)}\n`;
  const unfinished = `${record}.${process.pid}`;
  try {
    await writeFile(unfinished, text);
    await rename(unfinished, record);
  } catch (error) {
    logger.info(
      `The address of this service was not recorded in ${record}: ${fileErrorSentence(error)}. Commands need its settings.`,
    );
    return;
  }
  lifecycle.onClose('record of the address', async () => {
    if ((await readFile(record, 'utf8').catch(() => '')) === text) await rm(record, { force: true });
  });
}

/** Reads the record of a service's address. @returns undefined if there is none that this user can read */
export async function readRecordedAddress(
  config: Pick<Config, 'dataDir'>,
): Promise<RecordedAddress | undefined> {
  const text = await readFile(addressRecord(config), 'utf8').catch(() => '');
  try {
    const address = JSON.parse(text) as Partial<RecordedAddress> | null;
    return addressSettings.every((name) => typeof address?.[name] === 'string')
      ? (address as RecordedAddress)
      : undefined;
  } catch {
    return undefined;
  }
}
