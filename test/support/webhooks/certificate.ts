import { generateKeyPairSync, sign } from 'node:crypto';

export type TestCertificate = ReturnType<typeof makeCertificate>;

/**
 * Makes a self-signed certificate for names, 127.0.0.1 and 0.0.0.0, which a test may trust.
 * @param lastDay as `491231`: 31 December 2049
 * @param firstDay in the same form
 */
export function makeCertificate(
  dnsNames: readonly string[] = ['localhost'],
  lastDay = '491231',
  firstDay = '200101',
) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('Ownline test')))));
  const names = sequence(
    ...dnsNames.map((dnsName) => der(0x82, Buffer.from(dnsName))),
    der(0x87, Buffer.from([127, 0, 0, 1])),
    der(0x87, Buffer.from([0, 0, 0, 0])),
  );
  const tbs = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(der(0x17, Buffer.from(`${firstDay}000000Z`)), der(0x17, Buffer.from(`${lastDay}235959Z`))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid('551d11'), der(0x04, names)))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', tbs, privateKey)]);
  const certificate = sequence(tbs, ecdsaWithSha256, der(0x03, signature));
  return {
    /** Private key in PEM; `cert` is PEM, too. */
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

/** Encodes a DER value: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  // DER requires the shortest form, and browsers refuse any other.
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  const size = length < 128 ? [length] : long;
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}
