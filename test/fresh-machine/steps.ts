import assert from 'node:assert/strict';
import { blocksOf } from './blocks.ts';
import type { FreshMachine, Step } from './machine.ts';
import { versions } from './releases.ts';
import { visitorSteps } from './visitor-steps.ts';

const name = 'texts.example.com';
const caddyAuthority = '/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt';
const nginxCertificate = `/etc/letsencrypt/live/${name}`;

const release = '/opt/ownline/lib/node_modules/ownline';
const packageOf = (version: string) => `PACKAGE=/root/${version}/ownline-${version}.tgz\n`;

/** The chapters of docs/operations.md, and then what an ordinary user does. */
export const steps: readonly Step[] = [
  {
    title: 'Install it as a service',
    run: async (machine) => {
      const output = await machine.run(`${packageOf(versions.current)}NAME=${name}\n${await blocksOf('')}`);
      assert.match(output, /own_live_\w+/);
      assert.match(output, /https:\/\/texts\.example\.com\/invite\//);
      assert.match(output, /^It works once, for 7 days. For another one: ownline link /m);
      await machine.run("grep -o 'own_live_[[:alnum:]]*' /var/lib/ownline/first-start.txt > /root/first-key");
      const [user = '', state = ''] = (
        await machine.run(
          'ps -o user= -p $(systemctl show -P MainPID ownline); stat -c "%a %U" /etc/ownline.env /etc/ownline.passphrase /var/lib/ownline/first-start.txt',
        )
      ).split(/\n(.*)/s);
      assert.equal(user.trim(), 'ownline');
      assert.equal(state.trim(), '640 root\n640 root\n600 ownline');
    },
  },
  {
    title: 'The command line runs as the user of the service',
    run: async (machine) => {
      const teams = JSON.parse(await machine.run('cd /root && ownline team list --json'));
      assert.equal(teams.length, 1);
    },
  },
  {
    title: 'Further processes',
    run: async (machine) => {
      await machine.run(`{ ${await blocksOf('further')} } > /dev/null 2>&1 &
        until curl --silent --fail http://127.0.0.1:3001/readyz; do sleep 0.2; done
        kill $(ss -Hltnp 'sport = :3001' | grep -o 'pid=[0-9]*' | cut -d = -f 2)
        wait $!`);
    },
  },
  {
    title: 'The dashboard’s page and files are served below the unit’s restrictions',
    run: async (machine) => {
      const page = await machine.run(
        'curl --silent --fail --retry 20 --retry-all-errors http://127.0.0.1:3000/sign-in',
      );
      assert.match(page, /<title>/);
      await machine.run(
        `curl --silent --fail "http://127.0.0.1:3000/assets/$(basename $(ls ${release}/web/dist/files/main-*.js | head -1))"`,
      );
    },
  },
  {
    title: 'HTTPS with Caddy',
    run: async (machine) => {
      await machine.run(await blocksOf('caddy'));
      // No public authority issues a certificate for this machine, so Caddy's internal authority is used.
      await machine.run(`echo '127.0.0.1 ${name}' >> /etc/hosts
        sed -i '1i { \\n local_certs \\n skip_install_trust \\n}' /etc/caddy/Caddyfile
        systemctl restart caddy`);
      await servesPhones(machine, caddyAuthority);
      await machine.run('systemctl disable --now caddy');
    },
  },
  {
    title: 'HTTPS with nginx',
    run: async (machine) => {
      await machine.run(`mkdir -p ${nginxCertificate}
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${name} -addext subjectAltName=DNS:${name} \\
          -keyout ${nginxCertificate}/privkey.pem -out ${nginxCertificate}/fullchain.pem`);
      await machine.run(await blocksOf('nginx'));
      await servesPhones(machine, `${nginxCertificate}/fullchain.pem`);
    },
  },
  {
    title: 'Monitoring and alerts',
    run: async (machine) => {
      const output = await machine.run(await blocksOf('metrics'));
      assert.match(output, /^ownline_backup_last_success_timestamp_seconds\S* [1-9]/m);
      assert.match(output, /"jobs":/);
    },
  },
  {
    title: 'Backup and Restore',
    run: async (machine) => {
      const restored = await machine.run(
        `${await blocksOf('backup')}\n${await blocksOf('restore')}\n${await blocksOf('resume')}`,
      );
      assert.match(restored, /restored +true/);
      assert.match(restored, /goes out again/);
      await serves(machine);
    },
  },
  {
    title: 'Restore, where all data are gone',
    run: async (machine) => {
      await machine.run(`systemctl stop ownline
        rm -r /var/lib/ownline
        BACKUP=$(ls /var/backups/ownline/by-hand-*.backup)
        ${await blocksOf('restore')}
        ${await blocksOf('resume')}`);
      await serves(machine);
    },
  },
  {
    title: 'Upgrade and roll back',
    run: async (machine) => {
      const upgrade = `${packageOf(versions.newer)}${await blocksOf('upgrade')}\n${await blocksOf('release')}`;
      const toFormer = `${packageOf(versions.current)}${await blocksOf('release')}`;
      await machine.run(upgrade);
      await runs(machine, versions.newer);
      await machine.run(toFormer);
      await runs(machine, versions.current);
      await machine.run(
        `${upgrade}\n${toFormer}\n${await blocksOf('rollback')}\n${await blocksOf('restore')}\n${await blocksOf('resume')}`,
      );
      await runs(machine, versions.current);
    },
  },
  {
    title: 'A release that refuses the database',
    run: async (machine) => {
      const file = `${release}/server/database/schema/080-numbers.sql`;
      const restore = `DATA_DIR=/var/lib/ownline/newer ownline restore --passphrase-file /etc/ownline.passphrase /var/backups/ownline/by-hand-*.backup`;
      const output = await machine.run(`systemctl stop ownline
        cp ${file} /root/former.sql
        sed -i 's/(label) <= 100/(label) <= 101/' ${file}
        ! ownline start 2>&1
        ${restore}
        rm -r /var/lib/ownline/newer
        sed -i 's/label/title/g' ${file}
        ! ${restore} 2>&1
        rm -r /var/lib/ownline/newer
        cp /root/former.sql ${file}
        systemctl start ownline`);
      assert.match(output, /differs from that of this release.*Nothing was changed/);
      assert.match(output, /restored +true/);
      assert.match(output, /The tables of the backup are not those of its schema version/);
      await runs(machine, versions.current);
    },
  },
  {
    title: 'Block clients that guess',
    run: async (machine) => {
      await machine.run((await blocksOf('fail2ban')).replace(' &&\nsystemctl restart fail2ban', ''));
      await machine.run('fail2ban-client --test');
      const found = await machine.run('fail2ban-regex systemd-journal ownline');
      assert.match(found, /Failregex: [1-9]\d* total/);
    },
  },
  {
    title: 'A service that was killed starts again, with the database that was left',
    run: async (machine) => {
      await machine.run(`before=$(systemctl show -P MainPID ownline); kill -9 $before
        until [ "$(systemctl show -P MainPID ownline)" != $before ] && curl --silent --fail http://127.0.0.1:3000/readyz; do sleep 1; done`);
    },
  },
  {
    title: 'A stop leaves no process',
    run: async (machine) => {
      const output = await machine.run(
        'systemctl stop ownline; systemctl show -P Result ownline; pgrep -u ownline --list-full || true',
      );
      assert.equal(output, 'success\n');
    },
  },
  ...visitorSteps,
];

/** Checks that the release is installed, and serves the data of the first start. */
async function runs(machine: FreshMachine, version: string): Promise<void> {
  assert.match(await machine.run('ownline --version'), new RegExp(`^ownline ${version} `));
  await serves(machine);
}

/** Checks that the service answers with the first API key, which was made before all restores. */
async function serves(machine: FreshMachine): Promise<void> {
  const team = await machine.run(
    'curl --silent --fail http://127.0.0.1:3000/v1/team -H "x-api-key: $(cat /root/first-key)"',
  );
  assert.match(team, /"name":"My team"/);
}

/**
 * Checks through the proxy: the certificate is trusted, a poll is held, the client's address arrives, and the
 * dashboard's live stream works.
 */
async function servesPhones(machine: FreshMachine, authority: string): Promise<void> {
  const curl = `curl --silent --show-error --cacert ${authority} --retry 20 --retry-all-errors`;
  const ready = await machine.run(`${curl} --fail https://${name}/readyz`);
  assert.match(ready, /"status":"ok"/);
  const page = await machine.run(`export NODE_EXTRA_CA_CERTS=${authority}
    key=$(cat /root/first-key)
    number=+1415555010$((RANDOM % 10))
    url=$(${curl} https://${name}/v1/numbers/verify -H "x-api-key: $key" -H 'content-type: application/json' -d "{\\"phone_number\\": \\"$number\\"}" \\
      | grep -o 'https://[^"]*/setup/[^"]*')
    token=$(${curl} https://${name}/v1/device/claim -H 'content-type: application/json' -d "{\\"token\\": \\"\${url##*/}\\"}" | grep -o 'dev_[^"]*')
    ${curl} --max-time 70 --write-out '\\n%{time_total} %{http_code}\\n' https://${name}/v1/device/poll -H "x-device-token: $token" -d '{"session": "new"}'
    ${curl} https://${name}/v1/team -H 'x-api-key: own_live_wrong' -H 'x-forwarded-for: 198.51.100.1' -o /dev/null
    journalctl -u ownline -o cat | grep '"code":"unauthorized"' | tail -n 1
    ownline number release --phone-number $number > /dev/null`);
  assert.match(page, /"action":"idle"/);
  const [, seconds = '', status] = /^([\d.]+) (\d+)$/m.exec(page) ?? [];
  assert.ok(Number(seconds) > 49 && status === '200', `the poll was held for ${seconds} s`);
  assert.match(page, /"network":"127\.0\.0\.1"/);
  const doctor = (await blocksOf('doctor')).split('\n', 1).join();
  const report = await machine.run(`install -m 0644 ${authority} /srv/authority.pem
    export NODE_EXTRA_CA_CERTS=/srv/authority.pem
    ${doctor} --json || true`);
  const { checks } = JSON.parse(report) as { readonly checks: readonly { name: string; state: string }[] };
  // The check of outgoing requests may fail: the host name is only in /etc/hosts, and those requests ask a name
  // server.
  const failed = checks.filter(({ name: of, state }) => state === 'failed' && of !== 'egress');
  assert.deepEqual(failed, []);
  assert.ok(checks.some(({ name: of, state }) => of === 'hold' && state === 'ok'));
}
