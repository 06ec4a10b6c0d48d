// Which sub-folder of its slice a file goes to. Order matters: a folder imports only those before it in the list.
export const subFolders = {
  'server/platform': {
    order: ['time', 'ids', 'process', 'concurrency', 'network', 'http', 'outbound-http'],
    stay: ['config', 'config-error', 'app-error', 'start-error', 'actor', 'crypto', 'escape-html', 'failpoint', 'mail-address', 'plain-name', 'limits'],
    folders: {
      concurrency: ['batcher', 'semaphore', 'keyed-semaphore', 'wait-group', 'loop', 'long-poll', 'maybe-promise', 'shared-look', 'shared-query', 'repeat-limit'],
      time: ['clock', 'calendar', 'follow-test-clock', 'host-clock'],
      ids: ['ids', 'type-id'],
      network: ['ip-address', 'client-network', 'fixed-window-limiter', 'credential-lookup', 'network-limit'],
      process: ['lifecycle', 'product-version', 'node-version.mjs', 'logger', 'metrics'],
    },
  },
  'server/accounts': {
    order: ['account', 'sessions', 'throttling', 'magic-links', 'passwords', 'passkeys', 'sign-in'],
    stay: ['limits'],
    folders: {
      account: ['account-actor', 'account-store', 'account-view', 'create-account', 'email', 'rename-account', 'user-handle', 'sign-in-hints', 'password'],
      sessions: ['create-session', 'csrf', 'device-cookie', 'host-cookie', 'session-authenticator', 'session-cookie', 'session-store', 'session-view', 'sign-out-session'],
      throttling: ['known-network', 'login-throttle', 'throttle-store'],
      'magic-links': ['create-magic-link', 'magic-link-requests', 'magic-link-store', 'send-magic-link'],
      passwords: ['password-flash', 'password-page', 'password-page-routes', 'reauthentication', 'set-password'],
      passkeys: ['finish-passkey-registration', 'passkey-ceremony', 'passkey-challenge-store', 'passkey-routes', 'passkey-store', 'passkey-view', 'relying-party', 'remove-passkey', 'rename-passkey', 'start-passkey-registration', 'start-passkey-sign-in'],
      'sign-in': ['account-routes', 'purge-expired', 'sign-in-page', 'sign-in-page-routes', 'sign-in-routes', 'sign-in-with-passkey', 'sign-in-with-password', 'sign-out-everywhere', 'use-magic-link', 'verify-email'],
    },
  },
  'server/teams': {
    order: ['team', 'members', 'invitations', 'acceptance'],
    stay: ['limits'],
    folders: {
      team: ['team-store', 'team-view', 'change-plan', 'create-team'],
      members: ['member-store', 'member-view', 'member-routes', 'member-authenticator', 'role-policy', 'recheck-permission', 'apply-role', 'change-role', 'promote-owner', 'demote-owner', 'require-another-owner', 'end-membership', 'remove-member', 'leave-team', 'forbid-self-grant', 'rename-team', 'routes'],
      invitations: ['invitation-store', 'invitation-view', 'invitation-routes', 'invitation-link', 'invitation-mail-throttle', 'invite-member', 'list-invitations', 'mail-invitation', 'resend-invitation', 'revoke-invitation', 'revoke-open-invitations', 'purge-invitations', 'seat-limit', 'join-team', 'create-owner-link', 'create-operator-link'],
      acceptance: ['accept-invitation', 'acceptance-page', 'acceptance-page-routes', 'acceptance-routes', 'double-submit', 'form-token-hash', 'invitation-needs', 'open-invitation'],
    },
  },
  'server/webhooks': {
    order: ['queue', 'endpoints', 'deliveries', 'dispatch'],
    stay: ['limits', 'delivery-limits'],
    folders: {
      queue: ['due-webhooks', 'skip-pending', 'delete-pending', 'sweep-deliveries'],
      endpoints: ['create-webhook', 'delete-webhook', 'finish-rotation', 'missed-since', 'rotate-secret', 'routes', 'update-webhook', 'validate-webhook', 'webhook-secret', 'webhook-settings', 'webhook-store', 'webhook-view', 'with-locked-webhook'],
      deliveries: ['delivery-routes', 'delivery-store', 'delivery-view', 'list-deliveries', 'redeliver', 'replay', 'replay-range', 'replay-statement', 'sample-event', 'test-webhook', 'purge-attempts'],
      dispatch: ['attempt-delivery', 'claim-deliveries', 'delivery-metrics', 'delivery-schedule', 'disable-webhook', 'dispatcher', 'failure-count', 'failure-store', 'last-triggered', 'move-deliveries', 'open-secrets', 'record-results', 'release-delivery', 'result-statement', 'result-writer', 'sign-delivery'],
    },
  },
};
/** @returns moves, and files that no folder names */
export function movesOfSlice(tree, slice) {
  const { folders, stay } = subFolders[slice];
  const moves = {};
  const unknown = [];
  const where = new Map(Object.entries(folders).flatMap(([folder, names]) => names.map((name) => [name, folder])));
  for (const path of tree.all) {
    if (!path.startsWith(`${slice}/`) || path.slice(slice.length + 1).includes('/')) continue;
    const name = path.slice(slice.length + 1).replace(/\.ts$/, '');
    if (where.has(name)) moves[path] = `${slice}/${where.get(name)}/${path.slice(slice.length + 1)}`;
    else if (!stay.includes(name)) unknown.push(path);
  }
  return { moves, unknown };
}
