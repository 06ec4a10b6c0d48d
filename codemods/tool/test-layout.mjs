// Where tests and their support stand. Names are those after the renames of the steps before.
export const support = {
  runner: ['run-files', 'test-file', 'file-reporter', 'spec-reporter', 'test-engine', 'end-processes', 'processes-of', 'engine-owner', 'find-test-files'],
  service: ['test-service', 'spawned-service', 'stepping-service', 'test-database', 'command-line', 'api-client', 'raw-http', 'flaky-proxy', 'freezing-proxy', 'row-lock', 'hold-reads', 'until', 'watch-argon2', 'watch-statements', 'canary',
    'movable-database-clock', 'openapi-document', 'operations', 'member-operations', 'api-promises', 'sound-answer', 'explain-page', 'plan-node', 'through-referees', 'is-field-of', 'hear-changes', 'message-pages', 'engine-place', 'sender', 'put-events'],
  phones: ['test-phone', 'held-poll'],
  people: ['people', 'inviting', 'software-authenticator'],
  webhooks: ['webhooks', 'webhooking', 'put-webhook', 'webhook-receiver', 'receiver', 'hostile-receiver', 'dns-server', 'certificate', 'outbound'],
  mail: ['mail-server', 'mailing'],
  browser: ['browser', 'browser-client', 'find-browser', 'packaged-chromium', 'page-checks', 'sound-page'],
  generators: ['generated-addresses', 'generated-bodies', 'generated-bytes', 'generated-headers', 'generated-requests', 'generated-texts'],
};
/** Old name → new name, for those that could not be told apart. */
export const supportNames = {
  webhooking: 'webhook-world', 'put-webhook': 'insert-webhook', webhooks: 'make-webhooks', receiver: 'raw-receiver', 'engine-place': 'engine-folder', 'sound-answer': 'assert-answer', 'sound-page': 'assert-page', mailing: 'mail-world',
  sender: 'send-under-load', inviting: 'invite', 'hear-changes': 'listen-for-changes', 'put-events': 'insert-events', 'message-pages': 'walk-message-pages',
};
const bySlice = {
  teams: ['accept-invitation', 'end-invitation', 'invitation-mail', 'acceptance-page', 'invite', 'list-invitations', 'seats', 'members', 'owners', 'team', 'plain-names'],
  'api-keys': ['authentication', 'member-keys', 'refused-keys'],
  usage: ['quota', 'rate-limits', 'rate-limits-and-clock', 'member-rate-limiter', 'usage', 'fair-teams'],
  audit: ['audit', 'audit-refusals'],
  numbers: ['delete-number', 'list-numbers', 'pause-number', 'reconnect-number', 'update-number', 'verify-number'],
  messages: ['cancel-message', 'get-message', 'idempotency', 'list-messages', 'list-messages-refusals', 'list-messages-while-they-arrive', 'send'],
  webhooks: ['create-webhook', 'delete-webhook', 'deliver-again', 'list-deliveries', 'list-webhooks', 'rotate-secret', 'update-webhook', 'webhook-secrets'],
  events: ['events'],
  dashboard: ['billing-page'],
  accounts: ['verified-email'],
};
const elsewhere = {
  'test/database/page-bounds.test.ts': 'test/messages/page-bounds.test.ts',
  'test/database/delivery-page-bounds.test.ts': 'test/webhooks/delivery-page-bounds.test.ts',
  'test/database/feed-bounds.test.ts': 'test/events/feed-bounds.test.ts',
  'test/database/audit-retention.test.ts': 'test/audit/audit-retention.test.ts',
  'test/database/first-run.test.ts': 'test/app/first-run.test.ts',
  'test/database/expiry-holds.test.ts': 'test/messages/expiry-holds.test.ts',
  'test/device/setup-page.test.ts': 'test/numbers/setup-page.test.ts',
  'test/accounts/link-command.test.ts': 'test/cli/link-command.test.ts',
  'test/e2e/delivery-kills.test.ts': 'test/webhooks/delivery-kills.test.ts',
};
export function placeOf(path) {
  if (elsewhere[path]) return elsewhere[path];
  const [, folder, name] = /^test\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (folder === 'device') return `test/device-protocol/${name}`;
  if (folder === 'changes') return `test/dashboard/${name === 'notifications.test.ts' ? 'change-notifications.test.ts' : name === 'declared.test.ts' ? 'declared-changes.test.ts' : name === 'every-route.test.ts' ? 'changes-of-every-route.test.ts' : name}`;
  if (folder === 'api') {
    const slice = Object.keys(bySlice).find((s) => bySlice[s].includes(name.replace(/\.test\.ts$/, '')));
    return `test/${slice ?? 'http'}/${name}`;
  }
  return path;
}
/** By what a test does: a browser, processes of its own, engines of its own, very many rows, random input. */
export function isSlow(path, text) {
  if (/^test\/(browser|e2e|campaign)\//.test(path)) return path !== 'test/campaign/checker.test.ts';
  if (/-bounds\.test\.ts$|kills|\/(generated-requests|every-change|statements|partitions|engine|migrate|upgrade|hostile-receivers|fairness|expiry-holds|accept-sends|throttle|clock-(jumps|start|steps)|list-messages-while-they-arrive|every-operation|access-matrix|member-access-matrix|fair-teams|rate-limits)\.test\.ts$/.test(path)) return true;
  return /\bspawnService\b|\blaunchService\b|\bstartSteppingService\b|support\/(service\/)?engine-(place|folder)\.ts/.test(text);
}
