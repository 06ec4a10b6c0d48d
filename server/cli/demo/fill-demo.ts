import { createMagicLink } from '#server/accounts/magic-links/create-magic-link.ts';
import { numberRemovedHooks } from '#server/app/transaction-hooks.ts';
import { markConversationRead } from '#server/dashboard/conversations/mark-conversation-read.ts';
import type { Runtime } from '#server/database/runtime.ts';
import { failOfTeam } from '#server/messages/sweep-messages.ts';
import { deleteNumber } from '#server/numbers/delete-number.ts';
import { recordDemoOffline } from '#server/numbers/number-health-store.ts';
import { updateNumber } from '#server/numbers/update-number.ts';
import { appendHealthEvents } from '#server/numbers/watch-numbers.ts';
import { contactOf } from '#server/opt-outs/contact.ts';
import { operator } from '#server/platform/actor.ts';
import { conflict } from '#server/platform/app-error.ts';
import { demoDomain } from '#server/platform/demo-domain.ts';
import { firstIdAt, type MessageId, publicId, type TeamId } from '#server/platform/ids/ids.ts';
import { commandLine } from '#server/platform/process/command-line.ts';
import { createTeam } from '#server/teams/team/create-team.ts';
import { findDemoTeam, markAsDemo } from '#server/teams/team/team-store.ts';
import { demoPicture } from './demo-files.ts';
import { connectDemoNumbers, type DemoPhones } from './demo-numbers.ts';
import { createDemoKeys, createDemoPeople, type DemoPeople, inviteColleague } from './demo-people.ts';
import { createDemoReceivers } from './demo-receivers.ts';
import { createDemoRuntime, type DemoRuntime, moveTo } from './demo-runtime.ts';
import { DemoSends } from './demo-sends.ts';
import { type InboundDemoText, momentOf, type OutboundDemoText, readDemoTexts } from './demo-texts.ts';

export interface FilledDemo {
  /** The team, as the API shows its id. */
  readonly id: string;
  readonly name: string;
  /** Signs in to the dashboard as the owner, once. */
  readonly url: string;
  readonly email: string;
  readonly expires_at: string;
  readonly messages: number;
}

const name = 'Brightside Dental (demo)';
const ownerEmail = `maya@${demoDomain}`;
const linkHours = 24;

type DemoText = InboundDemoText | OutboundDemoText;

/** Something that happens in a demo, and when. */
interface Step {
  readonly atMs: number;
  readonly run: () => Promise<unknown>;
}

/**
 * Makes the demo team with the messages of two weeks (specification section 10.12), in one transaction. It calls
 * the use cases of a real team's requests, at times of the past. Nothing leaves this process: attempts of webhooks are
 * recorded and not made, and no mail is queued.
 * @throws AppError 409 if there is a demo team, or a restore is not resumed
 */
export async function fillDemo(runtime: Runtime): Promise<FilledDemo> {
  if (runtime.restoreHold.isHeld)
    throw conflict(
      `The demo needs a queue that moves, and no iPhone takes a message before a restore is resumed. Run \`${commandLine} restore --resume\`.`,
    );
  const nowMs = runtime.clock.nowMs();
  return runtime.database.transaction(async (trx) => {
    const demo = createDemoRuntime(runtime, trx, momentOf('13d 10:00', nowMs));
    const team = await createTeam(trx, demo, { name, plan: 'pro', by: operator });
    if (!(await markAsDemo(trx, team.id))) throw await demoExistsError(demo);
    const people = await createDemoPeople(demo, team);
    const keys = await createDemoKeys(demo, team, people.daniel);
    const phones = await connectDemoNumbers(demo, team.id, people.maya);
    const receivers = await createDemoReceivers(demo, team.id, people.daniel, nowMs);
    const sends = new DemoSends(demo, team.id, people, keys);
    const latest = new Map<string, { readonly text: DemoText; readonly id: MessageId }>();
    const expiring: MessageId[] = [];
    const texts = readDemoTexts(nowMs);
    const runText = async (text: DemoText) => {
      const phone = phones[text.number];
      const id =
        text.by === 'contact'
          ? await phone.receive(text.handle, text.text, text.hasFile ? demoPicture() : undefined)
          : await sends.send(text, phone);
      latest.set(`${text.number} ${text.handle}`, { text, id });
      if (text.by !== 'contact' && text.outcome === 'expired') expiring.push(id);
    };
    const { billing, frontDesk, recall } = phones;
    const pause = () => updateNumber(demo, team.id, billing.id, { status: 'paused' }, people.maya.act());
    const steps: Step[] = [
      ...texts.map((text) => ({ atMs: text.atMs, run: () => runText(text) })),
      ...(
        [
          ['10d 17:06', () => failOfTeam(demo, team.id, expiring, 'expired')],
          ['9d 12:00', () => deleteFormerNumber(demo, team.id, phones, people)],
          ['2d 17:30', () => inviteColleague(demo, team, people.maya)],
          ['122m', () => recall.poll()],
          ['116m', () => goOffline(demo, team.id, phones)],
          ['1m', pause],
          ['0m', () => frontDesk.poll()],
        ] as const
      ).map(([at, run]) => ({ atMs: momentOf(at, nowMs), run })),
    ];
    for (const { atMs, run } of steps.sort((one, other) => one.atMs - other.atMs)) {
      await receivers.attemptUntil(atMs);
      moveTo(demo, atMs);
      await run();
    }
    await receivers.attemptUntil(nowMs);
    await receivers.flush();
    await keys.flush();
    for (const { text, id } of latest.values())
      if (!text.isUnread) await markRead(demo, team.id, phones, people, text, id);
    const { url, expiresAt } = await createMagicLink(trx, runtime, people.maya.account, { hours: linkHours });
    return {
      id: publicId('team', team.id),
      name,
      url,
      email: ownerEmail,
      expires_at: expiresAt.toISOString(),
      messages: texts.length,
    };
  });
}

async function demoExistsError({ trx }: DemoRuntime) {
  const present = await findDemoTeam(trx);
  return conflict(
    `There is a demo already${present ? `, ${publicId('team', present.id)}` : ''}. Sign in to it with ` +
      `\`${commandLine} link --email ${ownerEmail}\`, or remove it with \`${commandLine} demo --remove\`.`,
  );
}

async function deleteFormerNumber(
  demo: DemoRuntime,
  teamId: TeamId,
  { former }: DemoPhones,
  { maya }: DemoPeople,
): Promise<void> {
  const services = { ...demo, onNumberRemoved: numberRemovedHooks(demo) };
  await deleteNumber(services, teamId, former.id, maya.act());
}

/** Records that the number of the recall went offline. */
async function goOffline(demo: DemoRuntime, teamId: TeamId, { recall }: DemoPhones): Promise<void> {
  const change = await recordDemoOffline(demo.trx, demo.clock.now(), teamId, recall.id);
  if (change) await appendHealthEvents(demo.trx, demo, teamId, [change]);
}

/** Marks a conversation as read by the owner, who looks at the demo. */
async function markRead(
  demo: DemoRuntime,
  teamId: TeamId,
  phones: DemoPhones,
  { maya }: DemoPeople,
  { number, handle }: DemoText,
  latestId: MessageId,
): Promise<void> {
  const key = { phoneNumber: phones[number].phoneNumber, contact: contactOf(handle) };
  const reader = { memberId: maya.id, joinedId: firstIdAt(0) };
  await markConversationRead(demo, teamId, reader, key, latestId);
}
