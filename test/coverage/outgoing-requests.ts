import type { Coverage } from './coverage-table.ts';

/** Section 6.5. */
export const outgoingRequests: Coverage = {
  '6.5 These rules hold for': {
    'architecture.test.ts': [
      'every outgoing HTTP request goes through platform/outbound-http (section 6.5, decision 0015)',
    ],
  },
  '6.5 An https URL of': {
    'platform/outbound-http/validate-url.test.ts': [
      'what is no https URL to somewhere is refused, saying why',
      'http goes to literal addresses inside EGRESS_ALLOW_CIDRS, and to nothing else',
    ],
    'webhooks/create-webhook.test.ts': [
      'takes https to a name, and http to a literal address that is allowed, and shows what was sent',
      'refuses every other address at once, with param url (section 6.5)',
    ],
  },
  '6.5 Never to an address': {
    'platform/outbound-http/ip-blocklist.test.ts': [
      'any host of …, in every spelling and inside every IPv6 address that leads to it',
      'any other IPv4 address is allowed, and none of those, by the arithmetic of another',
      'of IPv6 all but 2000::/3, and of that 2001::/23, 2001:db8::/32, 2002::/16 and 3fff::/20',
      'what is no address is forbidden',
    ],
  },
  '6.5 EGRESS_ALLOW_CIDRS takes ranges out': {
    'platform/outbound-http/ip-blocklist.test.ts': [
      'EGRESS_ALLOW_CIDRS takes out of that what it names, of its own family, and nothing else',
    ],
    'platform/config.test.ts': [
      'need nothing: an empty environment has defaults for all of them',
      'EGRESS_ALLOW_CIDRS takes addresses and ranges, no wider than private ones are, and nothing else',
    ],
  },
  '6.5 A literal address, in': {
    'platform/outbound-http/validate-url.test.ts': [
      'literal addresses and localhost are refused in every spelling',
      'http goes to literal addresses inside EGRESS_ALLOW_CIDRS, and to nothing else',
      'says where it leads as it will be connected to',
    ],
    'webhooks/create-webhook.test.ts': ['refuses every other address at once, with param url (section 6.5)'],
    'webhooks/update-webhook.test.ts': [
      'refuses what a new webhook could not have either, with the field at fault, and changes nothing',
    ],
  },
  '6.5 A name is looked': {
    'platform/outbound-http/outbound-http.test.ts': [
      'takes the connection of the one before, and asks DNS once for as long as the answer is good',
      'many at once ask DNS once, and each has a connection of its own',
      'tries the next address of a name where nobody listens at the first',
      'DNS is answered while every thread of the pool is busy, as with password hashing',
    ],
    'platform/outbound-http/reachable-addresses.test.ts': [
      '1,000 sends to names whose answers change from one question to the next reach what was allowed and nothing else',
      'one forbidden address, of either family and in every embedding, refuses the name',
      'an answer that was refused is asked for anew when it is no longer good',
    ],
    'platform/outbound-http/bounds.test.ts': [
      'of a name with many addresses four are tried, in their order',
      'an answer of DNS is good for its TTL, and for a minute at most',
    ],
  },
  '6.5 TLS is always verified': {
    'platform/outbound-http/reachable-addresses.test.ts': [
      'a certificate that is out of date, of nobody known or for another name sends nothing, whatever the environment says',
      'a literal address needs a certificate for that address',
      'who speaks no TLS gets no request',
    ],
  },
  '6.5 One deadline covers everything': {
    'platform/outbound-http/hostile-receivers.slow.test.ts': [
      'each that … is held for its deadline and half a second at most, all of them in 30 MB',
    ],
    'platform/outbound-http/receiver-faults.test.ts': [
      'a name server that fails or says nothing is a fault of DNS, within the deadline',
      'twelve faults, twelve classes; where a redirect leads is never reached, and each is sent once',
    ],
    'platform/outbound-http/response-bodies.test.ts': [
      '16 KB of the body are kept to the byte; of a longer one the rest is not read and the connection ends',
      'a body that comes compressed stays so',
    ],
    'platform/outbound-http/bounds.test.ts': ['16 KB of headers are read, and not a line more'],
  },
  '6.5 A request is sent': {
    'platform/outbound-http/receiver-faults.test.ts': [
      'twelve faults, twelve classes; where a redirect leads is never reached, and each is sent once',
    ],
    'platform/outbound-http/outbound-http.test.ts': [
      'one name is never served over the connection of another, though both lead to one address',
      'a receiver that closes kept connections without a word fails one request, not every second',
    ],
    'platform/outbound-http/bounds.test.ts': [
      'a connection is kept for the next request, and closed when a second brought none',
    ],
  },
  '6.5 What an attempt failed': {
    'platform/outbound-http/receiver-faults.test.ts': [
      'twelve faults, twelve classes; where a redirect leads is never reached, and each is sent once',
    ],
    'webhooks/faults.test.ts': ['12 faults, 12 classes, and a failure of each is counted'],
  },
  '6.5 redirect, http_4xx, http_5xx': {
    'platform/outbound-http/bounds.test.ts': [
      '2xx alone is success, and 600 and above are failures of the receiver',
    ],
  },
  '6.5 timeout': {
    'platform/outbound-http/hostile-receivers.slow.test.ts': [
      'each that … is held for its deadline and half a second at most, all of them in 30 MB',
    ],
    'webhooks/faults.test.ts': ['12 faults, 12 classes, and a failure of each is counted'],
  },
  '6.5 dns': {
    'platform/outbound-http/receiver-faults.test.ts': [
      'a name server that fails or says nothing is a fault of DNS, within the deadline',
    ],
    'webhooks/faults.test.ts': ['12 faults, 12 classes, and a failure of each is counted'],
  },
  '6.5 forbidden_address': {
    'platform/outbound-http/reachable-addresses.test.ts': [
      'one forbidden address, of either family and in every embedding, refuses the name',
    ],
    'webhooks/faults.test.ts': ['12 faults, 12 classes, and a failure of each is counted'],
  },
  '6.5 connection_refused, unreachable': {
    'platform/outbound-http/bounds.test.ts': [
      'where this host has no route is told apart from where nobody listens',
    ],
    'platform/outbound-http/own-network.test.ts': [
      'of the errors of the system those are ours that say that nothing went out',
    ],
  },
  '6.5 no_network': {
    'platform/outbound-http/bounds.test.ts': [
      'where this host has no route is told apart from where nobody listens',
    ],
    'platform/outbound-http/own-network.test.ts': [
      'a request for a name while no name server answers is a fault of our own network, in each way that it may fail',
      'name servers that are back before the time-out count, though a question asked before found no answer',
      'a name that alone is not answered for is a fault of DNS, however it fails',
      'a name server that takes more than a second once is waited for, after however many fast answers',
    ],
    'webhooks/own-network.test.ts': [
      'failures of our own network are retried four times and never switch a webhook off',
    ],
  },
  '6.5 connection_reset': {
    'platform/outbound-http/receiver-faults.test.ts': [
      'half an answer, one that is none and one without a word are told apart',
    ],
    'webhooks/faults.test.ts': ['12 faults, 12 classes, and a failure of each is counted'],
  },
  '6.5 tls': {
    'platform/outbound-http/reachable-addresses.test.ts': [
      'a certificate that is out of date, of nobody known or for another name sends nothing, whatever the environment says',
      'who speaks no TLS gets no request',
    ],
  },
  '6.5 incomplete_answer': {
    'platform/outbound-http/receiver-faults.test.ts': [
      'half an answer, one that is none and one without a word are told apart',
      'an end of the connection ends an answer that named no length; 1xx comes before one',
    ],
  },
  '6.5 invalid_answer': {
    'platform/outbound-http/receiver-faults.test.ts': [
      'half an answer, one that is none and one without a word are told apart',
    ],
    'platform/outbound-http/bounds.test.ts': [
      '32 answers of 1xx are passed over, one more is no answer; neither are 100 and 101',
    ],
  },
  '6.5 headers_too_large': {
    'platform/outbound-http/bounds.test.ts': ['16 KB of headers are read, and not a line more'],
  },
  '6.5 aborted, internal_error': {
    'platform/outbound-http/receiver-faults.test.ts': [
      'what its caller gives up, or the end of the guard, is aborted, at once',
      'a request that cannot be written is a fault of our own',
    ],
    'webhooks/leases.test.ts': [
      'an attempt (…) that a stop breaks off is in the log, counts as none, and is made again by whoever comes',
    ],
    'webhooks/claims.test.ts': [
      'a fault of our own is tried again, and does not count: ten of them disable nothing',
    ],
  },
};
