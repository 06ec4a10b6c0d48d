import type { Coverage } from './coverage-table.ts';

/** Sections 7 to 9: errors, limits, versions. */
export const answers: Coverage = {
  '7.1 Every answer that is': {
    'http/router.test.ts': [
      'answers 404 in the envelope for an address that is none',
      'answers every method that Node reads in the envelope',
      'shows who opens an address that is none with a browser a page, and programs the envelope (section 7.1)',
    ],
    'docs.test.ts': ['every error code with its status is in docs/errors.md'],
    'http/generated-requests.slow.test.ts': [
      'answers … of them soundly on kept connections, and takes none that is wrong',
      'answers … raw ones soundly, however broken they are',
    ],
  },
  '7.1 400, and 405, 408': {
    'http/router.test.ts': [
      'answers 405 with what is allowed where only the method is wrong',
      'answers what is no readable HTTP in the envelope and closes',
      'answers 408 in the envelope for a request that does not end',
    ],
    'http/refusal-texts.test.ts': [
      'a body that is too large: how large one may be, on every operation',
      'a body that is compressed: 415, and the header at fault',
    ],
    'http/hostile-bodies.test.ts': [
      'refuses each of these with 400 and the field at fault',
      'answers 413 in the envelope for what is too large: 200,000 levels, 10 MB',
      'answers 415 for a body of another Content-Type',
    ],
  },
  '7.1 401': {
    'http/access-matrix.slow.test.ts': [
      'answers 401 for a missing, empty, mistyped, unknown, foreign-looking or revoked key, on every operation',
    ],
  },
  '7.1 402': {
    'usage/quota.test.ts': [
      'refuses the message after the last with limit, current, upgrade_url and resets_at',
    ],
    'numbers/verify-number.test.ts': ['counts pending numbers against the plan: 402 with limit and current'],
    'messages/send.test.ts': ['refuses media_url: 402 with limit 0 on free, 400 on starter and higher'],
  },
  '7.1 403': {
    'http/access-matrix.slow.test.ts': [
      'refuses a key that has every permission but the one, and changes nothing',
    ],
  },
  '7.1 404': {
    'messages/get-message.test.ts': [
      'answers the same bytes for another team’s message and one that never was',
    ],
    'http/router.test.ts': ['answers 404 in the envelope for an address that is none'],
  },
  '7.1 409': {
    'numbers/verify-number.test.ts': ['refuses a number that is verified already, here or in another team'],
    'messages/cancel-message.test.ts': [
      'refuses a message that is not queued any more with 409, says how it stands and changes nothing',
    ],
  },
  '7.1 429': {
    'usage/rate-limits.slow.test.ts': [
      'a 429 names the seconds, and whoever waits that long is let through, at whatever moment',
    ],
    'api-keys/refused-keys.test.ts': [
      'says in retry-after when the next key may be tried, and takes it then',
    ],
  },
  '7.1 500, 503': {
    'http/database-away.test.ts': [
      'answers 500 with retry-after, and serves again by itself once the database is back',
    ],
    'messages/accept-sends.slow.test.ts': [
      'refuses what exceeds the waiting room with 503 and retry-after, and accepts the rest',
    ],
  },
  '7.1 deviation: 405 (with allow)': {
    'http/router.test.ts': ['answers 405 with what is allowed where only the method is wrong'],
    'messages/accept-sends.slow.test.ts': [
      'refuses what exceeds the waiting room with 503 and retry-after, and accepts the rest',
    ],
  },
  '7.2 carries request-id: req_… and': {
    'messages/send.test.ts': [
      'answers 202 with the queued message, which its phone gets; the next poll makes it sent',
    ],
    'http/router.test.ts': [
      'answers 404 in the envelope for an address that is none',
      'answers what is no readable HTTP in the envelope and closes',
    ],
    'http/generated-requests.slow.test.ts': [
      'answers … of them soundly on kept connections, and takes none that is wrong',
    ],
  },
  '7.2 Static content (section 9)': {
    'platform/http/static-answer.test.ts': [
      'are made and compressed once, and all responses share the bytes',
      'are sent in the coding that the client weighs highest, Brotli before gzip',
      'of more than 1 MiB are sent compressed, also to a client that names no coding',
      'have a strong ETag for each coding: If-None-Match with it gets 304 without a body',
    ],
    'http/static-answers.test.ts': [
      'is sent compressed, with a strong ETag, and not again to who has it',
      'is the same content in every coding',
    ],
  },
  '7.2 HEAD is answered as': {
    'http/router.test.ts': [
      'answers HEAD like GET, without the body, wherever GET is answered (section 7.2)',
      'answers 405 where an operation is named that takes another method, and not 404 as for an id (section 7.2)',
    ],
    'http/static-answers.test.ts': ['is answered to HEAD with the headers of GET'],
  },
  '7.2 says with ratelimit-policy and': {
    'usage/rate-limits.slow.test.ts': [
      'lets exactly the plan’s number through, of a sudden burst too, and says what is left',
      'a 429 names the seconds, and whoever waits that long is let through, at whatever moment',
      'holds over two processes together, and leaves at most two percent unused',
      'says what is left on every answer to a good key, refusals included, and on no other',
      'a process knows of what others took once it takes its next hundredth of the limit',
      'says how many seconds are left of the minute',
      'leaves at most a hundredth unused in a process that was asked once',
    ],
    'usage/rate-limits-and-clock.test.ts': [
      'a database clock that was a day ahead leaves no team limited a minute after its return, nor after a restart (specification section 7.2)',
      'a minute that is stored further ahead than the clocks of two processes can differ limits no team (specification section 7.2)',
    ],
  },
  '7.2 Of one client network': {
    'api-keys/refused-keys.test.ts': [
      'answers 401 … times a minute and 429 after, whatever makes the key wrong',
      'goes on serving good keys from the same address',
      'serves a good key that this process has not seen yet, however many wrong ones came from its address',
      'serves every good key right after a start, however many wrong ones came from its address',
      'looks wrong keys up in few statements, and one that was wrong just now in none; a good one once a second',
      'counts for each address that the proxy names',
      'counts one client network together, however the proxy writes it: with ports, as a network of IPv6',
      'believes only what the proxy added, not what its client sent',
      'believes no X-Forwarded-For',
    ],
    'platform/credential-lookup.test.ts': [
      'run in two statements at a time, however many there are',
      'of a network past its limit share one statement, and delay no other network',
      'are refused from memory for 10 s where nothing was found; equal ones at the same time are one',
    ],
  },
  '7.2 Requests that need no': {
    'http/network-rate-limiter.test.ts': [
      'pages, static content and addresses with nothing share one limit, and its 429 says when to come again',
      'a valid key or session is served past it; a wrong one is not',
      'forms and operations without a session have a lower one, which spares who is signed in',
      'RATE_LIMITS=off lifts the limit of client networks (docs/configuration.md)',
    ],
  },
  '7.2 A client that takes': {
    'platform/http/slow-readers.test.ts': [
      'are disconnected after 30 s without a byte, and within 40 s',
      'are disconnected though they take a few bytes now and then',
      'are disconnected within 40 s after they stopped to read, whatever they took before',
      'stay where they take 1 KB/s and more, part of one large answer too',
      'stay while nothing waits for them: a long poll, and a connection that is kept',
    ],
  },
  '7.2 Pipelined requests of a': {
    'platform/http/pipelining.test.ts': [
      'of a connection are served one after the other, in their order',
      'end their connection where more wait than a client has use for',
    ],
    'http/generated-requests.slow.test.ts': [
      'answers each request of a pipeline in its place, and what is unreadable after them last',
    ],
  },
  '7.2 A request with several': {
    'http/router.test.ts': ['refuses what two servers may read in two ways, and closes the connection'],
  },
  '7.2 There is no CORS': {
    'http/router.test.ts': ['lets no page of another origin read an answer: there is no CORS'],
  },
  '7.2 What is no readable': {
    'http/router.test.ts': [
      'answers what is no readable HTTP in the envelope and closes',
      'answers what came whole before it on the connection first',
      'answers a request once whose body turns out unreadable after it was refused',
    ],
    'http/generated-requests.slow.test.ts': [
      'answers … raw ones soundly, however broken they are',
      'answers each request of a pipeline in its place, and what is unreadable after them last',
    ],
  },
  '7.2 Checks come in this': {
    'messages/send.test.ts': [
      'looks at one thing after the other: key, permission, syntax, repeat, sender, limit',
    ],
    'usage/rate-limits.slow.test.ts': ['is checked after the key and before the permission and the body'],
  },
  "7.2 Another team's id is": {
    'teams/team.test.ts': [
      'is answered exactly like a deleted one and one that never was, on every address of /v1 that has an id',
    ],
    'http/access-matrix.slow.test.ts': [
      'answers for another team’s ids, byte for byte, as for ids that never were',
      'answers for another team’s phone number as for one that nobody has',
    ],
  },
  '7.2 With the database away': {
    'http/database-away.test.ts': [
      'answers 500 with retry-after, and serves again by itself once the database is back',
    ],
    'messages/accept-sends.slow.test.ts': [
      'refuses what exceeds the waiting room with 503 and retry-after, and accepts the rest',
    ],
  },
  '8 messages per month': {
    'docs.test.ts': ['the limits of every plan are those in the table of section 8'],
    'teams/team.test.ts': ['shows each plan with its limit, or the one that was set for the team'],
  },
  '8 numbers, pending ones included': {
    'docs.test.ts': ['the limits of every plan are those in the table of section 8'],
    'numbers/verify-number.test.ts': [
      'counts pending numbers against the plan: 402 with limit and current',
      'holds the plan against requests at once, and makes one number of many for the same phone',
    ],
  },
  '8 media (planned), message.delivered': {
    'device-protocol/reports.test.ts': [
      'delivered straight from polling, and from device_timeout, makes sent first',
      'on the plan free delivered moves the status and makes no event',
    ],
  },
  '8 requests per minute, per': {
    'docs.test.ts': ['the limits of every plan are those in the table of section 8'],
    'usage/rate-limits.slow.test.ts': [
      'lets exactly the plan’s number through, of a sudden burst too, and says what is left',
      'counts a team’s keys together and teams apart',
    ],
  },
  '8 Accepted outbound messages count': {
    'usage/quota.test.ts': [
      'accepts exactly 50 of 200 at once against a limit of 50, five times over',
      'accepts exactly 50 of 200 at once over two processes, five times over',
      'does not count inbound messages',
      'begins anew with the month in UTC, and gives back to the month of the message',
      'refuses only more when the limit was lowered below what is used',
    ],
    'numbers/verify-number.test.ts': [
      'lets what exists go on working after a downgrade; only more is refused (section 8)',
    ],
  },
  '8 upgrade_url is {app_url}/billing, a': {
    'dashboard/billing-page.test.ts': [
      'says to everybody what the plans allow, and that whoever runs the server gives them',
      'shows the plan of each team of one’s own, what of it is used, and what to ask for more',
    ],
  },
  '8 Refused API keys and': {
    'api-keys/refused-keys.test.ts': [
      'answers 401 … times a minute and 429 after, whatever makes the key wrong',
      'goes on serving good keys from the same address',
      'counts for each address that the proxy names',
    ],
    'device-protocol/unknown-tokens.test.ts': [
      'of links that do not exist are answered 404 sixty times a minute and 429 after; an open link is taken all the same',
    ],
  },
  '8 In each process 3': {
    'usage/fair-teams.slow.test.ts': [
      'reads of one team take no other team its connections: beyond the bound 503 with retry-after, the rest is answered',
      'writes of one team that wait for a lock take no other team its connections; its members are not refused for its keys',
      'sends of a team take no permit: they are accepted while its reads are refused',
      'long polls for events take no permit, and many of one team leave the feed of another as it is',
    ],
    'platform/keyed-semaphore.test.ts': [
      'so many works of a key run at once, the others in their order; a full queue refuses, and other keys are free',
      'queues of one key are served round robin, and each has its own limit',
      'a work that waited too long is refused and never runs; those behind it keep their order',
    ],
    'database/database.test.ts': [
      'a pool whose connections all stay in use is over capacity: 503 with retry-after, of which nothing was sent',
    ],
  },
  '8 A request body may': {
    'http/body-size.test.ts': [
      'a request: 16 KiB and not a byte more',
      'a message: 128 KiB and not a byte more',
    ],
    'device-protocol/device-body.test.ts': [
      'an inbound message may have 1 MiB, which no text reaches; one that is larger is answered too_large',
      'a poll and a status may have 256 KiB',
    ],
    'device-protocol/unknown-tokens.test.ts': ['have a body of 4 KiB at most'],
    'messages/accept-sends.slow.test.ts': [
      'refuses what exceeds the waiting room with 503 and retry-after, and accepts the rest',
    ],
  },
  '8 A JSON body may': {
    'platform/http/json-bounds.slow.test.ts': [
      'takes what stays within 32 levels and 1,000 values',
      'refuses what goes beyond, by the name of the outermost field',
    ],
    'platform/http/validation-error.test.ts': ['is looked at up to its first problem'],
    'http/request-schemas.test.ts': [
      'bound every array by maxItems, and every string by a length, a pattern or its words',
    ],
    'http/refusal-texts.test.ts': [
      'a query string that is too long, or has too many parameters: how long it may be',
      'a body with too many fields or entries: which one, and how many there may be',
      'a form with too many fields: how many there may be',
    ],
  },
  '9 Everything public lives under': {
    'http/versioning.test.ts': ['all that clients and phones call is under /v1'],
  },
  '9 Within v1, endpoints, optional': {
    'http/versioning.test.ts': [
      'everything that v1 ever had is there, under the same name and type, and no more is required',
      'what is new in v1 is written down, and kept from then on',
    ],
  },
  "9 What can't be done": {
    'http/versioning.test.ts': [
      'an operation that is to go says so in the reference and in its answers, any other in neither',
    ],
  },
  '9 /v1/openapi.json is the OpenAPI': {
    'http/api-reference.test.ts': [
      'lists exactly the operations that are served, with the permission that each needs',
      'every reference leads somewhere, and every name is used',
      'the page runs no script but those it names, and loads nothing from elsewhere',
      'is an OpenAPI 3.1 document, had without a key',
    ],
    'browser/reference.slow.test.ts': [
      'is shown without a style of its own that its policy does not name',
      'sends a test request to the address that it was opened at, and shows its answer',
    ],
  },
  '9 The device protocol is': {
    'device-protocol/frozen-protocol.test.ts': [
      'claim: the token, the server and the number',
      'poll: a message, nothing, stop, or come back',
      'inbound and status: ok and an id, or not ok and a reason',
    ],
    'device-protocol/inbound.test.ts': [
      'a poll is read whatever its Content-Type, with fields that nobody knows and values that are no texts',
    ],
  },
};
