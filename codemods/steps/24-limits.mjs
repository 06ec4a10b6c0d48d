import { moveDeclarations } from '../tool/declarations.mjs';
// [slice, what stands at the head of its limits.ts, [file, old name, new name]…]
const plan = [
  ['server/accounts', 'Limits and periods of accounts (specification sections 12.1 to 12.3).', [
    ['create-magic-link', 'operatorLinkHours', 'operatorLinkHours'], ['create-magic-link', 'mailedLinkHours', 'mailedLinkHours'],
    ['magic-link-requests', 'magicLinksPerAddress', 'magicLinksPerAddress'], ['magic-link-requests', 'magicLinkRequestsPerNetwork', 'magicLinkRequestsPerNetwork'],
    ['login-throttle', 'attemptWindowMs', 'loginWindowMs'], ['login-throttle', 'failuresMax', 'loginFailuresMax'],
    ['password', 'passwordMinCharacters', 'passwordMinCharacters'], ['password', 'passwordMaxCharacters', 'passwordMaxCharacters'], ['password', 'hashesInFlightMax', 'passwordHashesInFlightMax'],
    ['reauthentication', 'recentSignInMs', 'recentSignInMs'], ['session-authenticator', 'requestsPerMinute', 'sessionRequestsPerMinute'], ['session-authenticator', 'visitsPerMinute', 'visitorRequestsPerMinute'],
    ['session-cookie', 'sessionDays', 'sessionDays'], ['finish-passkey-registration', 'passkeysMax', 'passkeysPerAccountMax'], ['passkey-ceremony', 'challengeMs', 'passkeyChallengeMs'],
  ]],
  ['server/teams', 'Limits and periods of teams and invitations (specification sections 3.5, 12.4 and 12.5).', [
    ['invitation-link', 'invitationMs', 'invitationMs'], ['invitation-mail-throttle', 'mailsPerAddress', 'invitationMailsPerAddress'], ['invitation-mail-throttle', 'mailsPerTeam', 'invitationMailsPerTeam'],
    ['purge-invitations', 'retentionMs', 'endedInvitationRetentionMs'], ['double-submit', 'doubleSubmitMs', 'doubleSubmitMs'],
  ]],
  ['server/devices', 'Periods of setup links (specification section 4.2).', [['setup-link', 'setupLinkMs', 'setupLinkMs']]],
  ['server/numbers', 'Periods of numbers (specification section 4.2).', [['verify-number', 'pendingMs', 'pendingNumberMs']]],
  ['server/messages', 'Limits and periods of messages (specification sections 2.5, 3.2, 4.3 and 11.5).', [
    ['accept-sends', 'idempotencyMs', 'idempotencyKeyMs'], ['receive-message', 'sameTextMs', 'duplicateInboundMs'], ['receive-message', 'handleCharactersMax', 'handleMaxCharacters'],
    ['report-message', 'lateReportMs', 'lateReportMs'], ['waiting-reason', 'offlineAfterMs', 'offlineAfterMs'], ['list-messages', 'examinedMax', 'pageExaminedMax'], ['send-batcher', 'waitingMax', 'sendsWaitingMax'],
  ]],
  ['server/device-protocol', 'Limits and periods of the device protocol (specification sections 11.2 to 11.7).', [
    ['poll-route', 'pollsPerMinute', 'pollsPerMinute'], ['poll-route', 'overLimitHoldMs', 'overLimitHoldMs'], ['routes', 'inboundPerMinute', 'inboundPerMinute'], ['routes', 'statusesPerMinute', 'statusesPerMinute'],
    ['poll', 'repeatMs', 'repeatedPollMs'], ['start-session', 'graceMs', 'takeoverGraceMs'], ['routes', 'claimLimitBytes', 'claimBodyMaxBytes'], ['routes', 'inboundLimitBytes', 'inboundBodyMaxBytes'], ['device-body', 'deviceBodyLimitBytes', 'deviceBodyMaxBytes'],
  ]],
  ['server/events', 'Limits of the feed (specification section 4.5).', [['feed-poll-registry', 'feedPollsMax', 'feedPollsMax'], ['list-events', 'publishTimeoutMs', 'publishTimeoutMs']]],
  ['server/mail', 'Limits and periods of mail (specification section 10.6).', [
    ['mail-worker', 'attemptsInFlightMax', 'mailAttemptsInFlightMax'], ['mail-worker', 'attemptMs', 'mailAttemptMs'], ['mail-worker', 'leaseMs', 'mailLeaseMs'], ['mail-worker', 'stopMs', 'mailStopMs'], ['mail-worker', 'retentionMs', 'mailRetentionMs'],
  ]],
  ['server/webhooks', 'Limits and periods of webhooks and deliveries (specification sections 6.3 and 6.4).', [
    ...['laneSlots', 'Lane', 'slowAfterFailures', 'teamSlots', 'processSlots', 'claimedMax', 'walkedMax', 'leaseMarginMs'].map((n) => ['delivery-limits', n, n]),
    ['rotate-secret', 'rotationMs', 'secretRotationMs'], ['list-deliveries', 'examinedMax', 'pageExaminedMax'], ['dispatcher', 'stopMs', 'dispatcherStopMs'],
  ]],
  ['server/platform/http', 'Limits of requests (specification sections 7.1 and 8).', [
    ['route', 'bodyLimitBytes', 'bodyMaxBytes'], ['route', 'messageBodyLimitBytes', 'messageBodyMaxBytes'], ['json-bounds', 'depthMax', 'jsonDepthMax'], ['json-bounds', 'valuesMax', 'jsonValuesMax'],
    ['parse-query', 'queryMaxCharacters', 'queryMaxCharacters'], ['parse-query', 'parametersMax', 'queryParametersMax'], ['parse-form', 'fieldsMax', 'formFieldsMax'],
  ]],
];
const symbols = {};
for (const [slice, , list] of plan) for (const [file, old, now] of list) if (old !== now) (symbols[`${slice}/${file}.ts`] ??= {})[old] = now;
export default {
  message: 'limits: move the limits and periods of a slice to its limits.ts',
  symbols,
  after(tree, context) {
    for (const [slice, head, list] of plan) {
      const to = `${slice}/limits.ts`;
      for (const [file, old, now] of list) if (tree.has(`${slice}/${file}.ts`)) moveDeclarations(tree, `${slice}/${file}.ts`, [now], to, { ...context, exportAll: true });
      else context.problems.push(`limits: no file ${slice}/${file}.ts for ${old}`);
      if (tree.has(to)) {
        const text = tree.get(to);
        const imports = /^(?:import [^;]*;\n)+/.exec(text)?.[0] ?? '';
        tree.set(to, `${imports}${imports ? '\n' : ''}/*\n * ${head}\n */\n\n${text.slice(imports.length).trimStart()}`);
      }
    }
    const old = 'server/webhooks/delivery-limits.ts';
    if (tree.has(old) && tree.get(old).trim() === '') tree.delete(old);
  },
  text: [],
  quick: ['test/coverage.test.ts', 'test/docs.test.ts'],
};
