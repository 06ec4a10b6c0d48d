const netFiles = /^(server\/(accounts|api-keys)\/|docs\/(specification|errors|glossary|architecture|configuration)\.md|test\/(accounts|coverage)\/|test\/api\/(refused-keys|rate-limits|invite|accept|proven|security)|server\/platform\/(http\/http-server|source-of|client-network))/;
export default {
  message: 'limits: rename to fixed-window limiter, client network, throttle and rate limiters',
  symbols: {
    'server/platform/minute-limit.ts': {
      MinuteLimit: 'FixedWindowLimiter', 'MinuteLimit.isUsedUp': 'isExhausted', 'MinuteLimit.#forgetOldest': '#evictOldest',
    },
    'server/platform/source-of.ts': { sourceOf: 'clientNetwork' },
    'server/usage/rate-limit.ts': {
      RateLimits: 'TeamRateLimiter', takeLot: 'reservePermits', 'RateLimits.#takeLot': '#reserveBlock', lotShare: 'blockShare', 'Window.lot': 'block', TakenRow: 'ReservedRow',
    },
    'server/usage/member-requests.ts': { MemberRequests: 'MemberRateLimiter', timesOfKeys: 'keyLimitMultiple' },
    'server/doors.ts': { 'createDoors>rateLimits': 'teamLimiter', 'createDoors>memberRequests': 'memberLimiter' },
    'server/accounts/attempt-store.ts': { countUp: 'countUp', countBack: 'refundCounts', forgetWindows: 'purgeWindows' },
    'server/accounts/password-attempts.ts': {
      countAttempt: 'countAttempt', forgiveAttempt: 'refundAttempt', heldBack: 'throttled', isSourceHeldBack: 'isNetworkThrottled', isBrowserHeldBack: 'isDeviceThrottled', Trier: 'LoginAttempt',
    },
    'server/accounts/own-source.ts': { isOwnSource: 'isKnownNetwork', nobody: 'unknownAccountId' },
    'server/accounts/link-requests.ts': { linkRequestsPerSource: 'linkRequestsPerNetwork' },
  },
  moves: {
    'server/platform/minute-limit.ts': 'server/platform/fixed-window-limiter.ts',
    'server/platform/source-of.ts': 'server/platform/client-network.ts',
    'server/usage/rate-limit.ts': 'server/usage/team-rate-limiter.ts',
    'server/usage/member-requests.ts': 'server/usage/member-rate-limiter.ts',
    'server/accounts/attempt-store.ts': 'server/accounts/throttle-store.ts',
    'server/accounts/password-attempts.ts': 'server/accounts/login-throttle.ts',
    'server/accounts/own-source.ts': 'server/accounts/known-network.ts',
    'server/teams/invitation-mail-limit.ts': 'server/teams/invitation-mail-throttle.ts',
    'test/platform/minute-limit.test.ts': 'test/platform/fixed-window-limiter.test.ts',
    'test/platform/source-of.test.ts': 'test/platform/client-network.test.ts',
    'test/api/member-requests.test.ts': 'test/api/member-rate-limiter.test.ts',
    'docs/decisions/0011-rate-limits-in-lots.md': 'docs/decisions/0011-rate-limits-in-blocks.md',
  },
  words: [
    [/\bsource, or client network,/g, 'client network', netFiles],
    [/\bsources\b/g, 'client networks', netFiles],
    [/\bsource\b(?! (code|of truth|address|map))/g, 'client network', netFiles],
    [/\blots\b/g, 'blocks', /^(server\/usage\/|docs\/|test\/)/],
    [/\blot\b(?! of)/g, 'block', /^(server\/usage\/|docs\/|test\/)/],
  ],
  quick: ['test/platform/fixed-window-limiter.test.ts', 'test/platform/client-network.test.ts', 'test/coverage.test.ts', 'test/docs.test.ts'],
};
