export default {
  message: 'app: move the composition root to server/app/ and the settings to platform/config.ts',
  symbols: {
    'server/observe.ts': { createRecorder: 'createRequestLog' },
    'server/connect.ts': { connect: 'openRuntime' },
    'server/loops.ts': { createLoops: 'createBackgroundJobs', 'createLoops>duty': 'role' },
    'server/config.ts': { duties: 'processRoles', Duty: 'ProcessRole', 'Config.duties': 'processRoles' },
    'server/first-start.ts': { firstStart: 'firstRun' },
    'server/operations-routes.ts': { operationsRoutes: 'healthRoutes' },
    'server/warn-of-links.ts': { warnOfLinks: 'warnOfUnreachableLinks' },
  },
  everywhere: { duties: 'processRoles' },
  movesOf(tree) {
    const names = { 'doors.ts': 'authenticators.ts', 'observe.ts': 'request-log.ts', 'connect.ts': 'open-runtime.ts', 'loops.ts': 'background-jobs.ts', 'first-start.ts': 'first-run.ts', 'operations-routes.ts': 'health-routes.ts', 'api-reference.ts': 'api-reference-routes.ts', 'warn-of-links.ts': 'link-warnings.ts' };
    const moves = { 'server/config.ts': 'server/platform/config.ts' };
    for (const path of tree.all) {
      const m = /^server\/([^/]+\.ts)$/.exec(path);
      if (m && m[1] !== 'main.ts' && m[1] !== 'config.ts') moves[path] = `server/app/${names[m[1]] ?? m[1]}`;
    }
    moves['test/database/first-start.test.ts'] = 'test/database/first-run.test.ts';
    return moves;
  },
  text: [
    // The exception for config goes; server/app/ and server/cli/ are the root.
    { files: 'test/architecture.test.ts', from: /\n +\/\/ The type of all settings is read everywhere[\s\S]*?return \[\];\n(?= +const places)/g, to: '\n' },
    { files: 'test/architecture.test.ts', from: /second === 'cli' \? 'root'/g, to: "second === 'app' || second === 'cli' ? 'root'" },
    { files: 'test/architecture.test.ts', from: /offenders\(\(file\) => file\.path\.startsWith\('server\/platform\/'\) && nouns/g, to: "offenders((file) => file.path.startsWith('server/platform/') && file.path !== 'server/platform/config.ts' && nouns" },
    { files: 'test/docs.test.ts', from: /'server\/config\.ts'/g, to: "'server/platform/config.ts'", optional: true },
    { files: /^(server|test)\/.*\.ts$/, from: /'the duties of this process'/g, to: "'the roles of this process'", optional: true },
  ],
  words: [[/\bduties\b/g, 'process roles'], [/\bduty\b/g, 'process role']],
  quick: ['test/coverage.test.ts', 'test/docs.test.ts', 'test/platform/config.test.ts', 'test/database/first-run.test.ts'],
};
