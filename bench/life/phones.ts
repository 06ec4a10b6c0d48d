import { setTimeout as pause } from 'node:timers/promises';
import { monotonicMs } from './ledger.ts';
import { type PhoneCounts, RawPhone } from './raw-phone.ts';

/** Messages that phones received, with the times in milliseconds of the system's monotonic clock. */
export interface HandOuts {
  readonly ids: readonly string[];
  readonly atMs: readonly number[];
}

export type PhonesCommand =
  | { readonly do: 'connect'; readonly origin: string; readonly deviceTokens: readonly string[] }
  | { readonly do: 'switch_off' | 'switch_on' | 'count' };

export type PhonesReport =
  | ({ readonly kind: 'hand_outs' } & HandOuts)
  | ({ readonly kind: 'counts'; readonly polling: number } & Readonly<PhoneCounts>);

/** Milliseconds between two reports of hand-outs to the parent. */
const reportMs = 10;

/** Phones of a benchmark in a process of their own. `PhoneFleet` starts it and sends it commands. */
const phones: RawPhone[] = [];
const counts: PhoneCounts = { unavailable: 0, lostConnections: 0, stops: 0 };
let ids: string[] = [];
let atMs: number[] = [];

const report = (message: PhonesReport) => process.send?.(message);

function onMessage(id: string): void {
  ids.push(id);
  atMs.push(monotonicMs());
}

process.on('message', (command: PhonesCommand) => {
  if (command.do === 'connect') {
    for (const token of command.deviceTokens) {
      const phone = new RawPhone(command.origin, token, counts, onMessage);
      phones.push(phone);
      void phone.run();
    }
  }
  if (command.do === 'switch_off') for (const phone of phones) phone.switchOff();
  if (command.do === 'switch_on') for (const phone of phones) phone.switchOn();
  if (command.do === 'count')
    report({ kind: 'counts', polling: phones.filter((phone) => phone.isPolling).length, ...counts });
});
process.on('disconnect', () => process.exit());

for (;;) {
  await pause(reportMs);
  if (ids.length === 0) continue;
  report({ kind: 'hand_outs', ids, atMs });
  ids = [];
  atMs = [];
}
