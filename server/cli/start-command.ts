import type { AddCommands } from '#server/database/slice.ts';

/** Adds `ownline start`: the service, as `npm start` runs it in a clone. It goes on until a signal. */
export const addStartCommand: AddCommands = (program) => {
  program
    .command('start')
    .description('run the service: API, dashboard and embedded PostgreSQL, until Ctrl-C or a signal')
    .action(async () => {
      await import('#server/main.ts');
    });
};
