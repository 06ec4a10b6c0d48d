import assert from 'node:assert/strict';
import { blocksOf, readBlocks } from './blocks.ts';
import type { FreshMachine, Step } from './machine.ts';
import { versions } from './releases.ts';

const user = 'visitor';

/**
 * Functions of the scripts: `serve` and `end` a service, `call` its API with the key of the first start, `connect` a
 * simulated iPhone, and `send`.
 */
const functions = `PATH=~/.local/bin:$PATH
  trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
  serve() { "$@" > service.log 2>&1 & service=$!
    until curl --silent --fail http://127.0.0.1:3000/readyz > /dev/null; do kill -0 $service || { cat service.log; exit 1; }; sleep 0.1; done; }
  end() { kill -s "$1" $service; wait $service; }
  call() { curl --silent --show-error --fail-with-body "http://127.0.0.1:3000$1" -H "x-api-key: $key" "\${@:2}"; }
  post() { call "$1" -H 'content-type: application/json' -d "$2"; }
  first_key() { grep -o 'own_live_[[:alnum:]]*' data/first-start.txt; }
  connect() { setup=$(post /v1/numbers/verify '{"phone_number": "+14155550100"}' | grep -o 'http://[^"]*/setup/[^"]*')
    "$1" phone simulate --setup-url "$setup" --count "$2" --reply Yes & phone=$!
    until call /v1/numbers | grep -q '"verified":true'; do sleep 0.1; done; }
  send() { post /v1/messages/send '{"from": "+14155550100", "to": "+14155550101", "content": "'"$1"'"}'; }`;

/** The way of a person who tries Ownline, as an ordinary user, and changes from a clone to the package and back. */
export const visitorSteps: readonly Step[] = [
  {
    title: 'The package and the clients are installed by an ordinary user',
    run: async (machine) => {
      await machine.run(`apt-get install -y --no-install-recommends python3-venv
        useradd --create-home ${user}
        cp ${versions.current}/* ~${user}`);
      const [service = ''] = await readBlocks('README.md', 'sh install');
      const [typescript] = await readBlocks('clients/typescript/README.md', 'sh install');
      const [python = ''] = await readBlocks('clients/python/README.md', 'sh install');
      await visit(
        machine,
        `${service.replace('--global', '--global --prefix ~/.local').replace('ownline start\n', '')}
        mkdir tour client
        cp ownline-client-* client
        cd client\n${typescript}`,
      );
      await visit(machine, python, { network: false });
    },
  },
  {
    title: 'The tour of README.md, without a network',
    run: async (machine) => {
      const [send = ''] = await readBlocks('README.md', 'sh send');
      const [events = ''] = await readBlocks('README.md', 'sh events');
      const [mjs] = await readBlocks('clients/typescript/README.md', 'ts send.ts');
      const [py] = await readBlocks('clients/python/README.md', 'python send.py');
      const withKey = (block: string) => block.replace("'x-api-key: own_live_your_key'", '"x-api-key: $key"');
      const output = await visit(
        machine,
        `cd tour
        serve ownline start
        key=$(first_key)
        ownline --version
        ownline doctor --quick
        ownline demo
        connect ownline 3
        ${withKey(send)}
        export OWNLINE_URL=http://127.0.0.1:3000 OWNLINE_API_KEY=$key
        cat > ~/client/send.mjs <<'END'\n${mjs}END
        cat > send.py <<'END'\n${py}END
        ~/.local/lib/node_modules/ownline/bin/node ~/client/send.mjs
        ~/.venv/bin/python send.py
        wait $phone
        ${withKey(events)}
        end INT`,
        { network: false },
      );
      assert.match(output, new RegExp(`^ownline ${versions.current} \\(commit \\w{8}, schema \\d+\\)$`, 'm'));
      assert.equal(output.match(/"type":"message\.sent"/g)?.length, 3, output);
      assert.match(output, /"type":"message\.received"/);
    },
  },
  {
    title: 'From a clone to the package, and back',
    run: async (machine) => {
      await machine.run(`apt-get install -y --no-install-recommends git
        chown -R ${user} /srv/ownline.git`);
      const output = await visit(
        machine,
        `git clone --quiet /srv/ownline.git clone
        cd clone
        npm ci --omit=dev
        npm run -s build
        serve bin/ownline start
        key=$(first_key)
        connect bin/ownline 1
        send 'from the clone'
        wait $phone
        end TERM
        ${await blocksOf('from-clone')}
        mkdir ~/moved && cd ~/moved
        ${await blocksOf('to-package')}
        serve ownline start
        send 'from the package'
        ownline backup ~/move.backup
        end TERM
        cd ~/clone
        ${await blocksOf('to-clone')}
        serve bin/ownline start
        call /v1/messages
        end TERM
        DATA_DIR=~/clone/data serve ownline start
        call /v1/messages
        end TERM`,
      );
      assert.equal(output.match(/from the package.*?from the clone/g)?.length, 2, output);
    },
  },
];

function visit(machine: FreshMachine, script: string, { network = true } = {}): Promise<string> {
  return machine.run(`${functions}\n${script}`, { user, network });
}
