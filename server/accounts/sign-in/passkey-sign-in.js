// The script of the sign-in page: sign-in by passkey, with a button or from the suggestions of the address field.
(() => {
  const part = document.getElementById('passkey');
  if (typeof PublicKeyCredential !== 'function') return;
  const button = part.querySelector('button');
  const problem = part.querySelector('[role=alert]');
  const { base, next } = part.dataset;
  /** A new challenge is requested after this time, because the server accepts an answer for 5 minutes only. */
  const renewMs = 240_000;
  const unused = new Error(
    'No passkey was used: the question of your browser was closed, or this device has none that checks a PIN, fingerprint or face.',
  );
  let pending;
  let renewal;

  const bytesOf = (text) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
  const textOf = (buffer) =>
    btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(''))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');

  async function post(path, body) {
    const answer = await fetch(`${base}/app/sign-in/passkey${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const json = await answer.json();
    if (!answer.ok) throw new Error(json.error.message);
    return json;
  }

  function show(message) {
    problem.textContent = message;
    problem.hidden = message === '';
  }

  /**
   * Signs in by passkey. A browser allows only one open request per page. @param mediation `conditional` for
   * suggestions in the field
   */
  async function ask(mediation) {
    clearTimeout(renewal);
    pending?.abort();
    const mine = new AbortController();
    pending = mine;
    const options = await post('/options', {});
    if (mine.signal.aborted) return;
    if (mediation === 'conditional') renewal = setTimeout(suggest, renewMs);
    const publicKey = { ...options, challenge: bytesOf(options.challenge) };
    const credential = await navigator.credentials
      .get({ publicKey, signal: mine.signal, ...(mediation ? { mediation } : {}) })
      .catch(() => undefined);
    if (mine.signal.aborted) return;
    clearTimeout(renewal);
    if (!credential) throw unused;
    const { id, rawId, type, response } = credential;
    const { clientDataJSON, authenticatorData, signature, userHandle } = response;
    await post('', {
      response: {
        id,
        rawId: textOf(rawId),
        type,
        response: {
          clientDataJSON: textOf(clientDataJSON),
          authenticatorData: textOf(authenticatorData),
          signature: textOf(signature),
          userHandle: userHandle ? textOf(userHandle) : null,
        },
      },
    });
    location.assign(next);
  }

  /**
   * Offers passkeys among the suggestions of the address field. A failure is silent unless a passkey was chosen, because
   * the person has asked for nothing yet.
   */
  async function suggest() {
    if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
    await ask('conditional').catch((error) => {
      if (error !== unused) show(error.message);
    });
  }

  button.addEventListener('click', async () => {
    show('');
    button.setAttribute('aria-busy', 'true');
    try {
      await ask(undefined);
    } catch (error) {
      show(error.message);
      void suggest();
    } finally {
      button.removeAttribute('aria-busy');
    }
  });
  part.hidden = false;
  void suggest();
})();
