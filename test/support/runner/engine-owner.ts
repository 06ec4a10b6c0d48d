import { pino } from 'pino';
import { startEngine } from '#server/database/engine/engine.ts';

// Entry of a process that owns the embedded database of a DATA_DIR, for tests that kill it.
// It prints one JSON line when the database runs. SIGTERM stops it, and SIGUSR2 throws an uncaught exception.
const [dataDir = ''] = process.argv.slice(2);
process.once('SIGUSR2', () => {
  throw new Error('an exception that nothing catches');
});
const engine = await startEngine({ dataDir, logger: pino(pino.destination(2)) });
const alive = setInterval(() => undefined, 1_000);
process.once('SIGTERM', async () => {
  await engine.stop();
  clearInterval(alive);
});
console.log(JSON.stringify({ databaseUrl: engine.databaseUrl, postmasterPid: engine.postmasterPid() }));
