import type { AuditEntry } from '#contract/audit.ts';
import { roleNames } from '#web/shell/role-names.ts';
import type { TargetNames } from './target-names.ts';

/** A verb as `paused` and as `pause`, and its object, such as `the number +1 415 555 0100`. */
interface Phrase {
  readonly done: string;
  readonly tried: string;
  readonly object: string;
}

type Details = AuditEntry['details'];
type Describe = (target: string, details: Details) => Phrase;

const phrase =
  (done: string, tried: string, object: (target: string, details: Details) => string): Describe =>
  (target, details) => ({ done, tried, object: object(target, details) });
const text = (value: unknown) => (typeof value === 'string' ? value : '');
const after = (word: string, value: unknown) => (text(value) === '' ? '' : ` ${word} ${text(value)}`);
const quoted = (target: string) => (target === '' ? '' : ` “${target}”`);
const roleOf = (details: Details) => {
  const name = Object.entries(roleNames).find(([role]) => role === details.role)?.[1];
  return name === undefined ? '' : ` as ${name.toLowerCase()}`;
};
const spaced = (target: string) => (target === '' ? '' : ` ${target}`);
const theKey = (target: string) => `the API key${quoted(target)}`;
const theNumber = (target: string) => `the number${spaced(target)}`;
const theWebhook = (target: string) => `the webhook${spaced(target)}`;
const theInvitation = (target: string) => (target === '' ? 'an invitation' : `the invitation of ${target}`);
const member = (target: string) => (target === '' ? 'a member' : target);

const changedNumber: Describe = (target, details) => {
  const object = theNumber(target);
  const fields = Object.keys(details).filter((field) => field !== 'repeats');
  if (fields.length === 1) {
    if (details.status === 'paused') return { done: 'paused', tried: 'pause', object };
    if (details.status === 'active') return { done: 'resumed', tried: 'resume', object };
    if (details.label !== undefined)
      return { done: 'renamed', tried: 'rename', object: `${object} to “${text(details.label)}”` };
    if (details.pacing !== undefined)
      return { done: 'changed', tried: 'change', object: `the pacing of ${object}` };
  }
  return { done: 'changed', tried: 'change', object };
};

const changedRole: Describe = (target, details) => {
  const before = text(details.before);
  const to = roleOf(details).replace(' as ', ' to ');
  const from = before === '' ? '' : ` from ${before}`;
  return { done: 'changed', tried: 'change', object: `the role of ${member(target)}${from}${to}` };
};

/** Sentence parts for each audit action (server/audit/audit.ts). */
const phrases: Readonly<Record<string, Describe>> = {
  'team.created': phrase('created', 'create', (_, { name }) => `the team${quoted(text(name))}`),
  'team.renamed': phrase(
    'renamed',
    'rename',
    (_, { name }) => `the team${name ? ` to “${text(name)}”` : ''}`,
  ),
  'team.plan_changed': phrase('changed', 'change', (_, { plan }) => `the plan${after('to', plan)}`),
  'member.joined': phrase('joined', 'join', (_, details) => `the team${roleOf(details)}`),
  'member.added': phrase(
    'added',
    'add',
    (target, details) => `${member(target)} to the team${roleOf(details)}`,
  ),
  'member.role_changed': changedRole,
  'member.removed': phrase('removed', 'remove', (target) => `${member(target)} from the team`),
  'member.left': phrase('left', 'leave', () => 'the team'),
  'invitation.made': phrase('invited', 'invite', (_, details) =>
    text(details.email) === '' ? `a person${roleOf(details)}` : `${text(details.email)}${roleOf(details)}`,
  ),
  'invitation.sent_again': phrase('sent', 'send', (target) => `${theInvitation(target)} again`),
  'invitation.link_made': phrase('made', 'make', (target) => `a link for ${theInvitation(target)}`),
  'invitation.revoked': phrase('revoked', 'revoke', theInvitation),
  'key.created': phrase('created', 'create', (target) => (target === '' ? 'an API key' : theKey(target))),
  'key.revoked': phrase('revoked', 'revoke', theKey),
  'number.connected': phrase('began to connect', 'connect', (target) =>
    target === '' ? 'a number' : theNumber(target),
  ),
  'number.reconnected': phrase('made a new setup link for', 'make a new setup link for', theNumber),
  'number.changed': changedNumber,
  'number.deleted': phrase('deleted', 'delete', theNumber),
  'number.released': phrase('released', 'release', theNumber),
  'number.device_changed': phrase('noticed a changed iPhone of', 'notice a changed iPhone of', theNumber),
  'message.cancelled': phrase('cancelled', 'cancel', (target) => `the message${spaced(target)}`),
  'contact.opted_out': phrase('opted out', 'opt out', () => 'a contact'),
  'contact.opted_in': phrase('opted in', 'opt in', () => 'a contact'),
  'contact.erased': phrase('erased', 'erase', () => 'a contact'),
  'webhook.created': phrase('created', 'create', (target) =>
    target === '' ? 'a webhook' : theWebhook(target),
  ),
  'webhook.changed': phrase('changed', 'change', theWebhook),
  'webhook.deleted': phrase('deleted', 'delete', theWebhook),
  'webhook.secret_rotated': phrase('rotated', 'rotate', (target) => `the secret of ${theWebhook(target)}`),
  'webhook.rotation_finished': phrase(
    'finished',
    'finish',
    (target) => `the rotation of the secret of ${theWebhook(target)}`,
  ),
  'webhook.tested': phrase('sent a test to', 'send a test to', theWebhook),
  'webhook.redelivered': phrase('repeated', 'repeat', (target) => `a delivery to ${theWebhook(target)}`),
  'webhook.replayed': phrase('replayed events to', 'replay events to', theWebhook),
  'restore.resumed': phrase(
    'resumed',
    'resume',
    (_target, details) =>
      `the restored server${details.cancel_messages === true ? ', cancelled the messages that waited' : ''}` +
      `${details.skip_deliveries === true ? ', skipped the deliveries that waited' : ''}`,
  ),
  'webhook.disabled': phrase(
    'switched off',
    'switch off',
    (target) => `${theWebhook(target)} after too many failures`,
  ),
};

/** The name of an entry's actor: `Ada Example`, `The API key “Booking”`. */
export function actorName({ kind, id, name }: AuditEntry['actor'], names: TargetNames): string {
  if (kind === 'operator') return 'The operator of this server';
  if (kind === 'server') return 'Ownline';
  if (kind === 'key') return `The API key “${name}”`;
  return names.get(id) ?? names.get(name) ?? name;
}

/** The predicate of an entry, which follows its actor: `paused the number +1 415 555 0100`, or `tried to pause …`. */
export function auditPredicate(entry: AuditEntry, names: TargetNames): string {
  const { action, actor, details, outcome, target } = entry;
  // A link of the operator adds a person to a team without an action of that person.
  const describe = phrases[action === 'member.joined' && actor.kind === 'operator' ? 'member.added' : action];
  if (!describe) return `did ${action}${spaced(target)}`;
  const { done, tried, object } = describe(names.get(target) ?? target, details);
  return outcome === 'done' ? `${done} ${object}` : `tried to ${tried} ${object}`;
}

const reasons: Readonly<Record<string, string>> = {
  forbidden: 'not permitted',
  not_found: 'not found',
  conflict: 'in conflict',
  invalid_request: 'invalid request',
  plan_limit_exceeded: 'limit of the plan',
  unauthorized: 'not signed in',
};

/** Explains a refusal and how often it was repeated: `Refused: not permitted, 3 times`. */
export function refusalText({ error_code, details }: AuditEntry): string {
  const { repeats } = details;
  const times = typeof repeats === 'number' && repeats > 1 ? `, ${repeats} times` : '';
  return `Refused: ${reasons[error_code] ?? error_code}${times}`;
}
