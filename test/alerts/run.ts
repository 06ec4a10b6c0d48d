import { spawnSync } from 'node:child_process';
import { repository } from '#test/support/processes/spawned-service.ts';

/**
 * `npm run alerts`: Prometheus' own promtool checks the alert rules of deploy/prometheus/ and runs their unit tests.
 */
const runs = [
  ['check', 'rules', 'deploy/prometheus/ownline.rules.yml'],
  ['test', 'rules', 'test/alerts/ownline.rules.test.yml'],
];

for (const words of runs) {
  const { status, error } = spawnSync('promtool', words, { cwd: repository, stdio: 'inherit' });
  if (error) {
    process.stderr.write(
      'promtool is not installed. On Debian and Ubuntu it comes with: apt-get install prometheus\n',
    );
  }
  if (status !== 0) process.exit(1);
}
