import { type PhoneCounts, RawPhone } from './raw-phone.ts';
import { type HandOuts, reportHandOut } from './report-hand-outs.ts';

export type PhonesCommand =
  | { readonly do: 'connect'; readonly origin: string; readonly deviceTokens: readonly string[] }
  | { readonly do: 'switch_off' | 'switch_on' | 'count' };

export type PhonesReport =
  | HandOuts
  | ({ readonly kind: 'counts'; readonly polling: number } & Readonly<PhoneCounts>);

/** Phones of a benchmark in a process of their own. `PhoneFleet` starts it and sends it commands. */
const phones: RawPhone[] = [];
const counts: PhoneCounts = { unavailable: 0, lostConnections: 0, stops: 0 };

const report = (message: PhonesReport) => process.send?.(message);

process.on('message', (command: PhonesCommand) => {
  if (command.do === 'connect') {
    for (const token of command.deviceTokens) {
      const phone = new RawPhone(command.origin, token, counts, reportHandOut);
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
