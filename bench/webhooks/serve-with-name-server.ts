import { PassThrough } from 'node:stream';
import { startApp } from '#server/app/app.ts';
import { readConfig } from '#server/platform/config.ts';
import { createLogger } from '#server/platform/process/logger.ts';

/**
 * Ownline as `server/main.ts` runs it, except that the SSRF guard uses the given name server. No setting can change it.
 * usage: node bench/webhooks/serve-with-name-server.ts NAME_SERVER PORT
 */
const config = readConfig(process.env);
const { lifecycle } = await startApp({
  config,
  logger: createLogger(config.logLevel),
  terminal: new PassThrough() as unknown as NodeJS.WriteStream,
  outbound: { nameServers: [process.argv[2] ?? ''] },
});
lifecycle.listenForSignals();
