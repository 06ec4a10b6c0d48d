/** Explanations of certificate errors, by Node's error code. */
const certificates: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an authority that this machine does not know',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'it does not send the certificate of the authority in between',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an authority that this machine does not know',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

const others: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no address was found for the name',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNRESET: 'it closed the connection',
  UND_ERR_SOCKET: 'it closed the connection',
  ETIMEDOUT: 'it did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
};

/** Explains why there was no answer. The message of fetch is only "fetch failed"; its cause has the reason. */
export function connectionProblem(error: unknown): string {
  const code = codeOf(error instanceof Error ? (error.cause ?? error) : error);
  const certificate = certificates[code];
  if (certificate !== undefined) {
    return `${certificate} (${code}). An iPhone refuses it, too: use a certificate that browsers trust. For an authority of your own set NODE_EXTRA_CA_CERTS here, and install it on the iPhone.`;
  }
  if (/^ERR_(SSL|TLS)_/.test(code) || code === 'EPROTO') {
    return `it does not speak TLS as expected (${code}). Check whether the link should begin with http:// and its port.`;
  }
  return `${others[code] ?? 'the connection failed'}${code === '' ? '' : ` (${code})`}.`;
}

function codeOf(cause: unknown): string {
  if (cause instanceof AggregateError) return codeOf(cause.errors[0]);
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}
