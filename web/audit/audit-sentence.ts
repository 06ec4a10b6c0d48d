import type { AuditEntry } from '#contract/audit.ts';
import { roleNames } from '#web/shell/role-names.ts';
import type { TargetNames } from './target-names.ts';
import { texts } from './texts.ts';

const { objects } = texts;

/** A verb, and the object of its sentence, such as `the number +1 415 555 0100`. */
type Phrase = readonly [keyof typeof texts.verbs, string];

type Details = AuditEntry['details'];
type Describe = (target: string, details: Details) => Phrase;

const text = (value: unknown) => (typeof value === 'string' ? value : '');

/** A noun with its name, if it has one: `the API key “Booking”`, or `the API key`. */
const noun = (kind: keyof typeof texts.nouns, name: unknown) =>
  text(name) === '' ? texts.nouns[kind].plain : texts.nouns[kind].named({ name: text(name) });

const roleIn = ({ role }: Details) =>
  Object.entries(roleNames)
    .find(([known]) => known === role)?.[1]
    .toLowerCase();

function withRole(object: string, details: Details): string {
  const role = roleIn(details);
  return role === undefined ? object : objects.as({ object, role });
}

const changedNumber: Describe = (target, details) => {
  const number = noun('number', target);
  const fields = Object.keys(details).filter((field) => field !== 'repeats');
  if (fields.length !== 1) return ['change', number];
  if (details.status === 'paused') return ['pause', number];
  if (details.status === 'active') return ['resume', number];
  if (details.label !== undefined) return ['rename', objects.label({ number, label: text(details.label) })];
  return ['change', details.pacing === undefined ? number : objects.pacing({ number })];
};

const changedRole: Describe = (target, details) => {
  const member = noun('member', target);
  const role = roleIn(details);
  const before = text(details.before);
  if (role === undefined) return ['change', objects.role({ member })];
  return ['change', before ? objects.roleFrom({ member, before, role }) : objects.roleTo({ member, role })];
};

const resumed =
  (object: string): Describe =>
  (_, { cancel_messages, skip_deliveries }) => {
    const cancelled = cancel_messages ? objects.messagesCancelled({ object }) : object;
    return ['resume', skip_deliveries ? objects.deliveriesSkipped({ object: cancelled }) : cancelled];
  };

/** The phrase of each audit action (server/audit/audit.ts). */
const phrases: Readonly<Record<string, Describe>> = {
  'team.created': (_, { name }) => ['create', noun('team', name)],
  'team.renamed': (_, { name }) => ['rename', noun('renamedTeam', name)],
  'team.plan_changed': (_, { plan }) => ['change', noun('plan', plan)],
  'member.joined': (_, details) => ['join', withRole(texts.nouns.team.plain, details)],
  'member.added': (target, details) => [
    'add',
    withRole(objects.intoTeam({ member: noun('member', target) }), details),
  ],
  'member.role_changed': changedRole,
  'member.removed': (target) => ['remove', objects.outOfTeam({ member: noun('member', target) })],
  'member.left': () => ['leave', texts.nouns.team.plain],
  'invitation.made': (_, details) => ['invite', withRole(noun('person', details.email), details)],
  'invitation.sent_again': (target) => ['send', objects.again({ invitation: noun('invitation', target) })],
  'invitation.link_made': (target) => ['make', objects.link({ invitation: noun('invitation', target) })],
  'invitation.revoked': (target) => ['revoke', noun('invitation', target)],
  'key.created': (target) => ['create', noun('newKey', target)],
  'key.revoked': (target) => ['revoke', noun('key', target)],
  'number.connected': (target) => ['connect', noun('newNumber', target)],
  'number.reconnected': (target) => ['makeLink', noun('number', target)],
  'number.changed': changedNumber,
  'number.deleted': (target) => ['delete', noun('number', target)],
  'number.released': (target) => ['release', noun('number', target)],
  'number.device_changed': (target) => ['noticeDevice', noun('number', target)],
  'message.cancelled': (target) => ['cancel', noun('message', target)],
  'contact.created': () => ['create', objects.contact],
  'contact.changed': () => ['change', objects.contact],
  'contact.deleted': () => ['delete', objects.contact],
  'contact.imported': () => ['import', objects.contacts],
  'contact.opted_out': () => ['optOut', objects.contact],
  'contact.opted_in': () => ['optIn', objects.contact],
  'contact.erased': () => ['erase', objects.contact],
  'webhook.created': (target) => ['create', noun('newWebhook', target)],
  'webhook.changed': (target) => ['change', noun('webhook', target)],
  'webhook.deleted': (target) => ['delete', noun('webhook', target)],
  'webhook.secret_rotated': (target) => ['rotate', objects.secret({ webhook: noun('webhook', target) })],
  'webhook.rotation_finished': (target) => ['finish', objects.rotation({ webhook: noun('webhook', target) })],
  'webhook.tested': (target) => ['test', noun('webhook', target)],
  'webhook.redelivered': (target) => ['repeat', objects.delivery({ webhook: noun('webhook', target) })],
  'webhook.replayed': (target) => ['replay', noun('webhook', target)],
  'webhook.disabled': (target) => ['switchOff', objects.failing({ webhook: noun('webhook', target) })],
  'restore.resumed': resumed(objects.restored),
  'outage.resumed': resumed(objects.heldMessages),
};

/** The name of an entry's actor: `Ada Example`, `The API key “Booking”`. */
export function actorName({ kind, id, name }: AuditEntry['actor'], names: TargetNames): string {
  if (kind === 'operator' || kind === 'server') return texts.actors[kind];
  if (kind === 'key') return texts.actors.key({ name });
  return names.get(id) ?? names.get(name) ?? name;
}

/** The predicate of an entry, which follows its actor: `paused the number +1 415 555 0100`, or `tried to pause …`. */
export function auditPredicate(entry: AuditEntry, names: TargetNames): string {
  const { action, actor, details, outcome, target } = entry;
  // A link of the operator adds a person to a team without an action of that person.
  const describe = phrases[action === 'member.joined' && actor.kind === 'operator' ? 'member.added' : action];
  if (!describe) return `${texts.unknown({ action })} ${target}`.trimEnd();
  const [verb, object] = describe(names.get(target) ?? target, details);
  return texts.verbs[verb][outcome === 'done' ? 'done' : 'tried']({ object });
}

const reasons: Readonly<Record<string, string>> = texts.reasons;

/** Explains a refusal and how often it was repeated: `Refused: not permitted, 3 times`. */
export function refusalText({ error_code, details: { repeats } }: AuditEntry): string {
  const reason = reasons[error_code] ?? error_code;
  return typeof repeats === 'number' && repeats > 1
    ? texts.refusedOften({ reason, times: repeats })
    : texts.refused({ reason });
}
