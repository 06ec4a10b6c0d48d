import { createSetupLink } from '#server/devices/setup-link.ts';
import { createSimulatedNumber } from '#server/numbers/create-simulated-number.ts';
import { findLiveNumberByPhone, findTakenPhoneNumbers } from '#server/numbers/number-store.ts';
import { startNumberVerification } from '#server/numbers/start-number-verification.ts';
import { updateNumber } from '#server/numbers/update-number.ts';
import { conflict } from '#server/platform/app-error.ts';
import type { TeamId } from '#server/platform/ids/ids.ts';
import { commandLine } from '#server/platform/process/command-line.ts';
import { shortcutVersion } from '#shortcut/connection.ts';
import type { DemoMember } from './demo-people.ts';
import { DemoPhone } from './demo-phone.ts';
import type { DemoRuntime } from './demo-runtime.ts';
import type { DemoNumberName } from './demo-texts.ts';

export type DemoPhones = Readonly<Record<DemoNumberName, DemoPhone>>;

/**
 * Fictional numbers that no team has verified, in the order in which the demo takes them. Their area code is
 * neither that of the guides, whose numbers a reader verifies next, nor that of the demo's contacts.
 */
async function freePhoneNumbers({ trx }: DemoRuntime, teamId: TeamId): Promise<string[]> {
  const all = Array.from({ length: 50 }, (_, index) => `+16285550${index + 150}`);
  const taken = await findTakenPhoneNumbers(trx, teamId, all);
  return all.filter((phoneNumber) => !taken.has(phoneNumber));
}

/** Connects the numbers of a demo: one whose phone the server simulates, and three whose iPhones do not exist. */
export async function connectDemoNumbers(
  demo: DemoRuntime,
  teamId: TeamId,
  owner: DemoMember,
): Promise<DemoPhones> {
  const [first, ...others] = await freePhoneNumbers(demo, teamId);
  const connect = async (label: string, model: string): Promise<DemoPhone> => {
    const phoneNumber = others.shift();
    if (phoneNumber === undefined)
      throw conflict(
        'A demo needs four of the numbers +16285550150 to +16285550199, and fewer are free. Release one with ' +
          `\`${commandLine} number release --phone-number +16285550150\`, and repeat the command.`,
      );
    const setupUrl = await startNumberVerification(demo, teamId, phoneNumber, owner.act());
    const number = await findLiveNumberByPhone(demo.trx, teamId, phoneNumber);
    if (!number) throw new Error('a number of the demo is missing');
    await updateNumber(demo, teamId, number.id, { label }, owner.act());
    return DemoPhone.connect(demo, number, setupUrl, describe(label, model));
  };
  const simulatedId = await createSimulatedNumber(demo, teamId, first, owner.act());
  await updateNumber(demo, teamId, simulatedId, { label: 'Front desk' }, owner.act());
  const setupUrl = await createSetupLink(demo.trx, demo, teamId, simulatedId);
  const simulated = { team_id: teamId, id: simulatedId };
  return {
    frontDesk: await DemoPhone.connect(demo, simulated, setupUrl, describe('Front desk', '27.1')),
    recall: await connect('Recall', '26.4'),
    billing: await connect('Billing', '27.0'),
    former: await connect('Recall, old iPhone', '26.2'),
  };
}

const describe = (label: string, systemVersion: string) => ({
  name: `iPhone ${label}`,
  systemVersion,
  shortcutVersion,
});
