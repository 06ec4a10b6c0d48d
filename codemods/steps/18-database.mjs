import { moveDeclarations } from '../tool/declarations.mjs';
export default {
  message: 'database: rename to listener, notify senders, channels and resource types',
  symbols: {
    'server/database/clock-store.ts': { 'ClockLook': { to: 'ClockSample', optional: true }, 'lookAtClock': { to: 'readClock', optional: true } },
    'server/database/clock-sync.ts': { 'clockLookMs': { to: 'clockReadMs', optional: true }, 'looksMax': { to: 'readsMax', optional: true }, 'ClockSync.#look': { to: '#read', optional: true } },
    'server/database/notifications.ts': { Notifications: 'NotificationListener', 'Notifications.#drop': '#disconnect', endSoon: 'closeGracefully', endingMs: 'closeTimeoutMs' },
    'server/database/notifier.ts': { Notifier: 'NotifySender', gatherMs: 'windowMs' },
    'server/database/change-notifier.ts': { ChangeNotifier: 'ChangeNotifySender', 'ChangeNotifier.note': 'record', gatherMs: 'windowMs', 'ChangeNotifier.#telling': '#sending', 'ChangeNotifier.#tellAll': '#sendAll', 'ChangeNotifier.#tell': '#send', 'ChangeNotifier.#hurry': '#flushNow' },
    'server/database/change.ts': { noterOf: 'changeRecorder', NoteChange: 'RecordChange', 'Change.noun': 'resource', writeChange: 'formatChange', readChange: 'parseChange' },
    'contract/change.ts': { changeNouns: 'resourceTypes', ChangeNoun: 'ResourceType' },
    'server/database/statement.ts': { 'StatementPool.noteChange': 'recordChange', 'Transaction.noteChange': 'recordChange' },
    'server/database/database.ts': { isSilence: 'isTimeout', silenceMs: 'clientTimeoutMarginMs' },
    'server/database/engine/supervisor.ts': { longestPauseMs: 'pauseMaxMs' },
    'server/database/engine/postmaster.ts': { largestLogBytes: 'logMaxBytes' },
    'server/database/engine/socket-folder.ts': { longestSocketPath: 'socketPathMaxBytes' },
    'server/database/engine/engine-files.ts': { smallestGlibc: 'glibcMin', ownDatabaseAdvice: 'externalDatabaseHint' },
    'server/database/engine/engine-process.ts': { isTaken: 'isPidInUse' },
    'server/database/engine/engine-connection.ts': { notYet: 'notReadyCodes', noSocketYet: 'noSocketCodes', isPassing: 'isTransient' },
    'server/dashboard/changes.ts': { 'Changes.hear': 'onNotification', 'Changes.#tell': '#emit' },
  },
  everywhere: { noteChange: 'recordChange' },
  moves: {
    'server/database/notifications.ts': 'server/database/listener.ts',
    'server/database/notifier.ts': 'server/database/notify-sender.ts',
    'server/database/change-notifier.ts': 'server/database/change-notify-sender.ts',
    'test/changes/telling.test.ts': 'test/changes/notifications.test.ts',
    'docs/decisions/0018-changes-are-told-by-their-statements.md': 'docs/decisions/0018-statements-declare-their-changes.md',
  },
  text: [
    { files: 'test/architecture.test.ts', from: /\\bnoteChange\\b/g, to: '\\brecordChange\\b', optional: true },
  ],
  words: [
    [/\bnouns\b/g, 'resource types', /^(server\/(database|dashboard)|docs\/(architecture|decisions))/],
    [/\bby team and noun\b/g, 'by team and resource type'], [/\bits noun\b/g, 'its resource type'], [/\bof the noun\b/g, 'of that type'],
    [/\ba noun and ids\b/g, 'a resource type and ids'], [/\bteam, noun\b/g, 'team, resource type'], [/\bteam and noun\b/g, 'team and resource type'],
  ],
  after(tree, context) {
    const to = 'server/database/channels.ts';
    // Wherever they are declared by now.
    for (const path of tree.ts().filter((p) => p.startsWith('server/') && p !== to)) {
      const names = [...tree.get(path).matchAll(/^export const (\w+Channel) = '/gm)].map((m) => m[1]);
      for (const name of names) moveDeclarations(tree, path, [name], to, { ...context, head: '' });
    }
    for (const path of tree.ts()) if (path.startsWith('server/') && tree.get(path).replaceAll(/\/\*[\s\S]*?\*\//g, '').trim() === '') tree.delete(path);
    tree.set(to, `/*\n * NOTIFY channels. A notification is a hint to look again; a sweep stands behind each of them.\n */\n\n${tree.get(to)}`);
  },
  quick: ['test/coverage.test.ts', 'test/docs.test.ts', 'test/changes/notifications.test.ts', 'test/database/database.test.ts'],
};
