import { findEngineUrl } from '#server/database/engine/engine-connection.ts';
import { until } from '#test/support/service/until.ts';
import { launch } from '../serve.ts';
import { phoneNumbers } from './connect-phones.ts';
import type { Installation, Setup } from './installation.ts';
import { Ledger } from './ledger.ts';
import { runRound } from './run-round.ts';
import { Senders } from './senders.ts';

export type Library = 'pg-boss' | 'graphile-worker';
export type Way = 'plain' | 'grouped';
export type Yardstick = Awaited<ReturnType<typeof startYardstick>>;

/**
 * Starts a yardstick of benchmark P10: a Fastify route that stores a job in Ownline's database, and fetches and
 * completes it in the same process. The same code as for Ownline runs its rounds.
 */
export async function startYardstick(library: Library, installation: Installation, setup: Setup) {
  const DATABASE_URL = await findEngineUrl(installation.dataDir);
  let ledger = new Ledger();
  const server = await launch('bench/life/yardstick-server.ts', {
    args: [library],
    settings: { DATABASE_URL },
    onHandOuts: (handOuts) => ledger.handOut(handOuts),
  });
  const numbers = phoneNumbers(setup.phones);
  return {
    run: async (way: Way, options: Parameters<typeof runRound>[2]) => {
      ledger = new Ledger();
      const { origin } = server;
      const senders = new Senders({ origin, path: `/${way}`, key: 'none', numbers }, setup.senders, ledger);
      const untilSettled = () => until('all jobs ran', () => ledger.handedOut >= ledger.accepted);
      const subject = { ...installation, server, ledger, senders, untilSettled };
      const round = await runRound(subject, setup, options);
      senders.close();
      ledger.requireAllOnce();
      return round;
    },
    stop: server.stop,
  };
}
