export default {
  message: 'egress: rename the SSRF guard\'s parts: validate-url, safe-resolver, ip-blocklist, connection-pool, response-reader',
  symbols: {
    'server/platform/outbound-http/judge-url.ts': { judgeUrl: 'validateUrl', judgeHost: 'validateHost', JudgedUrl: 'ValidatedUrl', isNamedIn: 'isInRanges' },
    'server/platform/outbound-http/checked-addresses.ts': {
      CheckedAddresses: 'SafeResolver', Checked: 'Resolution', 'Checked.found': 'kind', longestMs: 'ttlMaxMs', mostNames: 'namesMax', resolverLivesMs: 'resolverLifetimeMs',
      'CheckedAddresses.known': 'cached', 'CheckedAddresses.#known': '#cache', 'CheckedAddresses.look': 'resolve', 'CheckedAddresses.#asked': '#pending', 'CheckedAddresses.#ask': '#query',
      'CheckedAddresses.#current': '#currentResolver', 'CheckedAddresses>checked': 'resolution',
    },
    'server/platform/outbound-http/forbidden-address.ts': { isForbiddenAddress: 'isBlockedAddress', isForbidden: 'isBlockedIp', forbidden4: 'blocked4', forbidden6: 'blocked6', internet6: 'globalUnicast6' },
    'server/platform/outbound-http/connection.ts': { Place: 'Endpoint', 'Connection.place': 'endpoint', 'open>place': 'endpoint', largestHeaderBytes: 'headerMaxBytes', Done: 'ConnectCallback' },
    'server/platform/outbound-http/connections.ts': {
      Connections: 'ConnectionPool', 'Connections.take': 'acquire', 'Connections.giveBack': 'release', 'Connections.end': 'discard', 'Connections.endBroken': 'discardBroken',
      'Connections>place': 'endpoint', mostIdle: 'idleMax', mostDistrusted: 'distrustedMax', 'Connections.#forget': '#remove',
    },
    'server/platform/outbound-http/exchange.ts': {
      Exchange: 'ResponseReader', Exchanged: 'ExchangeResult', 'Exchanged.did': 'kind', mostInterim: 'interimMax', 'Exchange.#mostBytes': '#bodyMaxBytes', 'Exchange>mostBytes': 'bodyMaxBytes', Done: 'DoneCallback',
      'Exchange.#kept': '#body', 'Exchange.#keep': '#append', 'Exchange>exchanged': 'result', 'Done>exchanged': 'result',
    },
    'server/platform/outbound-http/failure-class.ts': { ofSystem: 'systemFailures', broken: 'resetCodes', unasked: 'unexpectedResponses' },
    'server/platform/outbound-http/outbound-http.ts': {
      nobodyHome: 'retryableOnNextAddress', mostBodyBytes: 'bodyMaxBytes', 'OutboundRequest.mostBodyBytes': 'bodyMaxBytes', mostJudged: 'validatedMax', mostAddresses: 'addressesMax',
      'OutboundHttp.judge': 'validate', 'OutboundHttp.#judged': '#validated', 'OutboundHttp>judged': 'validated', 'OutboundHttp.#addresses': '#resolver', 'OutboundHttp.#connections': '#pool',
      'OutboundHttp>checked': 'resolution', 'OutboundHttp>place': 'endpoint', 'OutboundHttp.#check': '#resolve',
    },
  },
  moves: {
    'server/platform/outbound-http/judge-url.ts': 'server/platform/outbound-http/validate-url.ts',
    'server/platform/outbound-http/checked-addresses.ts': 'server/platform/outbound-http/safe-resolver.ts',
    'server/platform/outbound-http/forbidden-address.ts': 'server/platform/outbound-http/ip-blocklist.ts',
    'server/platform/outbound-http/connections.ts': 'server/platform/outbound-http/connection-pool.ts',
    'server/platform/outbound-http/exchange.ts': 'server/platform/outbound-http/response-reader.ts',
    'test/platform/outbound-http/judge-url.test.ts': 'test/platform/outbound-http/validate-url.test.ts',
    'test/platform/outbound-http/forbidden-address.test.ts': 'test/platform/outbound-http/ip-blocklist.test.ts',
    'test/platform/outbound-http/whom-it-reaches.test.ts': 'test/platform/outbound-http/reachable-addresses.test.ts',
    'test/platform/outbound-http/answer-bodies.test.ts': 'test/platform/outbound-http/response-bodies.test.ts',
    'docs/decisions/0015-one-guard-for-outgoing-requests.md': 'docs/decisions/0015-one-ssrf-guard-for-outgoing-requests.md',
  },
  text: [
    { files: 'server/platform/outbound-http/response-reader.ts', from: /\bdid: 'answered', headers/g, to: "kind: 'answered', headers", optional: true },
    { files: 'server/platform/outbound-http/outbound-http.ts', from: /The one way out: every HTTP request of the server goes through here/g, to: 'SSRF guard: every outgoing HTTP request of the server goes through here', optional: true },
    { files: /^docs\/decisions\//, from: /One guard for outgoing requests/g, to: 'One SSRF guard for outgoing requests', optional: true },
    { files: /^docs\/(specification|architecture)\.md/, from: /the guard for outgoing requests/g, to: 'the SSRF guard for outgoing requests', optional: true },
  ],
  words: [
    [/\bjudges\b/g, 'validates', /outbound-http\//], [/\bjudged\b/g, 'checked', /outbound-http\//], [/\bJudgements\b/g, 'Results', /outbound-http\//],
  ],
  quick: ['test/coverage.test.ts', 'test/docs.test.ts', 'test/platform/outbound-http/outbound-http.test.ts', 'test/platform/outbound-http/validate-url.test.ts', 'test/platform/outbound-http/bounds.test.ts'],
};
