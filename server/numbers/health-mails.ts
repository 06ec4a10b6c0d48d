import { formatPhoneNumber } from '#contract/format-phone-number.ts';
import { healthCauseTexts } from '#contract/health-causes.ts';
import { homeNumberCountMax as waitingMax } from '#contract/home.ts';
import type { MailContent } from '#server/mail/mail-template.ts';
import { publicId } from '#server/platform/ids.ts';
import { momentForPeople } from '#server/platform/time/calendar.ts';
import { jointSilenceMs } from './limits.ts';
import { likelyCause } from './number-health.ts';
import type { NumberFactsRow } from './number-store.ts';

interface HealthReport {
  readonly team: {
    readonly name: string;
    /** The URL of the team's numbers in the dashboard. */
    readonly page: string;
  };
  readonly offline: readonly NumberFactsRow[];
  readonly online: readonly NumberFactsRow[];
  readonly queueExpiryMs: number;
  readonly now: Date;
}

const footnote =
  'You get this because you are an owner or an admin of the team. At most one mail an hour says that a number is offline.';

/** The mails about numbers that went offline or came back: at most one of each kind, with all numbers of the kind. */
export function healthMails(report: HealthReport): MailContent[] {
  const { offline, online } = report;
  return [
    ...(offline.length > 0 ? [offlineMail(report)] : []),
    ...(online.length > 0 ? [onlineMail(report)] : []),
  ];
}

function offlineMail({ team, offline, queueExpiryMs, now }: HealthReport): MailContent {
  const expiryHours = queueExpiryMs / 3_600_000;
  const ending = `go out once the iPhone is back. One that waits for over ${expiryHours} ${expiryHours === 1 ? 'hour' : 'hours'} fails with the code expired.`;
  const [only] = offline;
  if (only && offline.length === 1) {
    const cause = likelyCause(only, now);
    const device = only.device_name && `, “${only.device_name}”,`;
    return {
      subject: `${nameOf(only)} is offline`,
      heading: `${nameOf(only)} is offline`,
      paragraphs: [
        `The iPhone of ${fullNameOf(only)}${device} in the team ${team.name} has not asked for messages since ${lastSeen(only)}.`,
        `${waitingCount(only)}.${only.waiting_messages > 0 ? ` Waiting messages ${ending}` : ''}`,
        ...(cause ? [healthCauseTexts[cause].cause, healthCauseTexts[cause].advice] : []),
      ],
      action: { label: 'Open the number', url: `${team.page}/${publicId('num', only.id)}#checks` },
      footnote,
    };
  }
  return {
    subject: `${offline.length} iPhones of ${team.name} are offline`,
    heading: `${offline.length} iPhones are offline`,
    paragraphs: [
      `These iPhones of the team ${team.name} have stopped asking for messages:`,
      ...offline.map(
        (number) => `${fullNameOf(number)}: since ${lastSeen(number)}. ${waitingCount(number)}.`,
      ),
      haveStoppedTogether(offline)
        ? 'They fell silent together, so the cause is probably one: their network or power, or the way from them to this server. Open the address below in Safari on one of the iPhones; if it does not load, look there first.'
        : 'The page of each number names the likely cause and what to check on its iPhone.',
      ...(offline.some(({ waiting_messages: waiting }) => waiting > 0) ? [`Waiting messages ${ending}`] : []),
    ],
    action: { label: 'Open the numbers', url: team.page },
    footnote,
  };
}

function onlineMail({ team, online }: HealthReport): MailContent {
  const [only] = online;
  const isOne = online.length === 1 && only !== undefined;
  const subject = isOne ? `${nameOf(only)} is back` : `${online.length} iPhones of ${team.name} are back`;
  return {
    subject,
    heading: subject,
    paragraphs: isOne
      ? [
          `The iPhone of ${fullNameOf(only)} in the team ${team.name} asks for messages again. ${only.status === 'paused' ? 'The number is paused: nothing is sent until it is resumed.' : 'Messages that waited go out now.'}`,
        ]
      : [
          `These iPhones of the team ${team.name} ask for messages again. Messages that waited go out now, except those of paused numbers:`,
          ...online.map(fullNameOf),
        ],
    action: isOne
      ? { label: 'Open the number', url: `${team.page}/${publicId('num', only.id)}` }
      : { label: 'Open the numbers', url: team.page },
    footnote,
  };
}

function haveStoppedTogether(offline: readonly NumberFactsRow[]): boolean {
  const times = offline.flatMap(({ last_seen_at: at }) => (at === null ? [] : [at.getTime()]));
  return Math.max(...times) - Math.min(...times) <= jointSilenceMs;
}

function nameOf({ label, phone_number }: NumberFactsRow): string {
  return label || formatPhoneNumber(phone_number);
}

function fullNameOf({ label, phone_number }: NumberFactsRow): string {
  const number = formatPhoneNumber(phone_number);
  return label ? `${label} (${number})` : number;
}

function lastSeen({ last_seen_at: at }: NumberFactsRow): string {
  return at === null ? 'its last session' : momentForPeople(at);
}

/** The count of waiting messages in words; counting stops at a limit, then the text says `more than`. */
function waitingCount({ waiting_messages: waiting }: NumberFactsRow): string {
  if (waiting === 0) return 'No message waits for it';
  if (waiting === 1) return 'One message waits for it';
  return `${waiting >= waitingMax ? `${waitingMax} or more` : waiting} messages wait for it`;
}
