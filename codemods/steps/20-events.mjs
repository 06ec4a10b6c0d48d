const O = 'server/outbox/';
export default {
  message: 'events: rename the slice from outbox to events, and places in the feed to positions',
  symbols: {
    [`${O}append.ts`]: { append: 'appendEvents' },
    [`${O}feed-store.ts`]: { PlacedEvent: 'FeedEvent', Place: 'FeedPosition', takePublisherTurn: 'tryPublisherLock', takeTurn: 'tryLock', publisherLock: 'publisherLockId', findPlace: 'findPosition', positionOf: 'positionOfEvent', teamsWithMore: 'teamsWithNewEvents', 'teamsWithMore>places': 'positions', 'teamsWithMore>place': 'position' },
    [`${O}waiting-readers.ts`]: { WaitingReaders: 'FeedPollRegistry', WaitingReader: 'FeedPoll', readersMax: 'feedPollsMax', ReadEnd: 'FeedPollEnd', 'WaitingReader.place': 'position', 'WaitingReaders.places': 'positions', 'WaitingReaders>place': 'position', 'WaitingReaders>reader': 'poll', 'WaitingReaders>readers': 'feedPolls', 'WaitingReaders.wakeEverybody': 'wakeAll', 'WaitingReaders.#waiting': '#polls', 'WaitingReader>place': 'position' },
    [`${O}list-events.ts`]: { placeWithinMs: 'publishTimeoutMs', untilPlaced: 'waitUntilPublished', hold: 'waitForEvents', refuseWhereFull: 'requireCapacity', 'hold>place': 'position', 'Services.readers': 'feedPolls', 'hold>readers': 'feedPolls', 'refuseWhereFull>readers': 'feedPolls' },
    [`${O}publish-events.ts`]: { publishedMax: 'batchMax' },
    'server/routes.ts': { 'RouteServices.readers': 'feedPolls' },
    'server/app.ts': { 'open>readers': 'feedPolls' },
    'server/loops.ts': { 'createLoops>readers': 'feedPolls', 'createLoops>places': { to: 'positions', optional: true } },
  },
  everywhere: { readers: (path, text) => (/^server\/(outbox|loops|routes|app)|^test\/(outbox|database)\//.test(path) || (path.startsWith('test/') && /\bcreate(Loops|Routes)\b/.test(text)) ? 'feedPolls' : undefined) },
  movesOf(tree) {
    const names = { 'append.ts': 'append-events.ts', 'waiting-readers.ts': 'feed-poll-registry.ts', 'append.test.ts': 'append-events.test.ts', 'waiting-readers.test.ts': 'feed-poll-registry.test.ts' };
    const moves = {};
    for (const path of tree.all) {
      const m = /^(server|test)\/outbox\/(.*)$/.exec(path);
      if (m) moves[path] = `${m[1]}/events/${names[m[2]] ?? m[2]}`;
    }
    return moves;
  },
  statements: { 'outbox.append': 'events.append', 'outbox.feed-page': 'events.feed-page', 'outbox.find-place': 'events.find-position', 'outbox.publish': 'events.publish', 'outbox.take-publisher-turn': 'events.try-publisher-lock', 'outbox.teams-with-more': 'events.teams-with-new-events' },
  text: [
    { files: /\.md$/, from: /`append` writes/g, to: '`appendEvents` writes', optional: true },
    { files: 'test/architecture.test.ts', from: /'outbox'/g, to: "'events'" },
    { files: /\.md$/, from: /`server\/outbox\/`/g, to: '`server/events/`', optional: true },
    { files: /\.md$/, from: /\{ outbox, mail \}|\{audit, outbox, mail\}/g, to: '{ events, mail }', optional: true },
    { files: 'server/events/append-events.ts', from: /\* Writes the events of state changes in the transaction/g, to: '* Outbox pattern: writes the events of state changes in the transaction', optional: true },
  ],
  words: [
    [/\bthe outbox slice\b/g, 'the slice events'],
    [/\bplaces in the feed\b/g, 'positions in the feed'], [/\bplace in the feed\b/g, 'position in the feed'], [/\bgives them places\b/g, 'gives them positions'],
    [/\bGives places to the events\b/g, 'Gives positions to the events'], [/\bwhat follows a place\b/g, 'events after a position'], [/\bat these places\b/g, 'at these positions'],
    [/\bhas no place yet\b/g, 'has no position yet'], [/\ban event in its place\b/g, 'an event at its position'], [/\bevents without a place\b/g, 'events without a position'], [/\bgets its place\b/g, 'gets its position'],
    [/\bheld readers of events\b/g, 'held feed polls'],
  ],
  quick: ['test/coverage.test.ts', 'test/docs.test.ts', 'test/events/feed-poll-registry.test.ts', 'test/events/append-events.test.ts'],
};
