import { startApp } from './app.ts';
import { loadEnvironment, readConfig } from './config.ts';
import { Clock } from './platform/clock.ts';
import { obeyParentClock } from './platform/clock-control.ts';
import { ConfigError } from './platform/config-error.ts';
import { armFailpoint } from './platform/failpoint.ts';
import { createLogger } from './platform/logger.ts';

try {
  const config = readConfig(loadEnvironment());
  armFailpoint(config.failpoint);
  const clock = new Clock();
  obeyParentClock(clock);
  const logger = createLogger(config.logLevel);
  const { lifecycle, address } = await startApp({ config, logger, clock, terminal: process.stdout });
  lifecycle.listenForSignals();
  process.stdout.write(`Ownline is ready on ${address}\n`);
} catch (error) {
  const known = error instanceof Error && (error instanceof ConfigError || error.name === 'EngineError');
  process.stderr.write(`\n${known ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}
