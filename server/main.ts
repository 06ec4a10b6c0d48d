import { loadEnvironment, readConfig } from '#server/platform/config.ts';
import { Lifecycle, notifySystemd } from '#server/platform/process/lifecycle.ts';
import { createLogger } from '#server/platform/process/logger.ts';
import { Clock, followTestClock } from '#server/platform/time/clock.ts';
import { armFailpoint } from './platform/failpoint.ts';
import { StartError } from './platform/start-error.ts';

let lifecycle: Lifecycle | undefined;
try {
  const config = readConfig(loadEnvironment());
  armFailpoint(config.failpoint);
  const clock = new Clock();
  followTestClock(clock);
  const logger = createLogger(config.logLevel);
  lifecycle = new Lifecycle(logger);
  lifecycle.listenForSignals();
  for (const warning of config.misspelt) logger.warn(warning);
  // Loading the application takes up to a second. The signal handlers are set before, so that a signal in that time
  // ends the process with an exit code.
  const { startApp } = await import('#server/app/app.ts');
  const { address } = await startApp({
    config,
    logger,
    clock,
    lifecycle,
    terminal: process.stdout,
  });
  process.stdout.write(`Ownline is ready on ${address}\n`);
  if (config.notifiesSystemd) notifySystemd(logger);
} catch (error) {
  if (lifecycle?.signal.aborted) process.exit((await lifecycle.close()) ? 0 : 1);
  const isKnown = error instanceof StartError;
  process.stderr.write(
    `\n${isKnown ? error.message : error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(1);
}
