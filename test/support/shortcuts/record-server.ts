import { createServer } from 'node:https';
import { writeBinaryPropertyList } from '#shortcut/property-list/write-binary.ts';
import type { Workflow } from '#shortcut/workflow.ts';
import { closeServer, listenLocally } from '#test/support/proxies/listen-locally.ts';
import { makeCertificate } from '#test/support/webhooks/certificate.ts';

/** Starts a server that has the records of shared shortcuts in the form of iCloud, over https. */
export async function startRecordServer() {
  const { key, cert } = makeCertificate(['localhost']);
  const answers = new Map<string, { readonly status: number; readonly body: string | Buffer }>();
  const server = createServer({ key, cert }, ({ url = '' }, response) => {
    const { status, body } = answers.get(url) ?? { status: 404, body: '{}' };
    response.writeHead(status).end(body);
  });
  const origin = `https://localhost:${await listenLocally(server)}`;
  let count = 0;
  const answerWith = (status: number, body: string) => {
    count += 1;
    const id = `0123456789abcdef${count}`;
    answers.set(`/shortcuts/api/records/${id}`, { status, body });
    return `${origin}/shortcuts/${id}`;
  };
  return {
    certificate: cert,
    /** Makes the link of a record that answers with this status and body. */
    answerWith,
    /** Shares a shortcut, or any bytes in place of its file. @returns its link */
    share: (name: string, file: Workflow | Buffer) => {
      const asset = (path: string) => ({
        type: 'ASSETID',
        value: { downloadURL: `${origin}/B/${count}/${path}?o=1&v=1`, size: 1, fileChecksum: 'AQ==' },
      });
      const record = {
        recordType: 'SharedShortcut',
        deleted: false,
        fields: {
          name: { type: 'STRING', value: name },
          icon_glyph: { type: 'NUMBER_INT64', value: 59_446 },
          shortcut: asset('$' + '{f}'),
          signedShortcut: asset('signed/$' + '{f}'),
          signingStatus: { type: 'STRING', value: 'APPROVED' },
        },
      };
      const body = Buffer.isBuffer(file) ? file : writeBinaryPropertyList(file);
      answers.set(`/B/${count}/shared.shortcut?o=1&v=1`, { status: 200, body });
      return answerWith(200, JSON.stringify(record));
    },
    close: () => closeServer(server),
  };
}
