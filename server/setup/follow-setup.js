// The script of the setup page: copy buttons, forms that need no reload, and marks that the server updates.
(() => {
  const main = document.querySelector('main');
  document.documentElement.classList.add('scripted');

  // Boxes whose ticks are being stored. An answer to a request from before that may still have the old tick.
  const unkept = new Map();
  const keptAt = new Map();
  let requests = 0;
  const isStale = ({ id }, request) => unkept.has(id) || keptAt.get(id) >= request;

  /** Requests new parts of the page. @returns the answer, and a function that replaces the parts with those in it */
  async function ask(address, options) {
    requests += 1;
    const request = requests;
    const answer = await fetch(address, options);
    return { answer, show: async () => apply(await answer.text(), request) };
  }

  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /** Replaces the parts of the page that differ in an answer. The focus stays, and so do the open boxes. */
  function apply(markup, request) {
    const answer = new DOMParser().parseFromString(markup, 'text/html');
    for (const part of answer.querySelectorAll('[data-live]')) {
      const shown = document.getElementById(part.id);
      if (!shown || shown.outerHTML === part.outerHTML || isStale(part, request)) continue;
      // A field in which a person is typing is not replaced, unless the answer reports an error of that field.
      if (shown.contains(document.activeElement) && document.activeElement.matches('input[type=tel]')) {
        if (!part.querySelector('[role=alert]')) continue;
      }
      const focused = shown.contains(document.activeElement) ? document.activeElement : undefined;
      const next = document.importNode(part, true);
      const boxes = next.querySelectorAll('details');
      for (const [index, box] of shown.querySelectorAll('details').entries())
        if (boxes[index]) boxes[index].open = box.open;
      shown.replaceWith(next);
      const again = focused?.id ? document.getElementById(focused.id) : undefined;
      if (focused) (again ?? next.querySelector('button, a, input:not([type=hidden])'))?.focus();
    }
    const version = answer.querySelector('[data-version]')?.dataset.version;
    if (version) main.dataset.version = version;
    showTimes();
  }

  // Ticks are stored one request after the other, so that the last state wins. Only changed boxes are sent, because other
  // pages of the link may change the others. A box whose tick could not be stored returns to its earlier state.
  let keeping = Promise.resolve();
  document.addEventListener('change', ({ target }) => {
    const address = target.form?.dataset.ticks;
    if (!address) return;
    const excluded = target.checked ? (target.dataset.excludes ?? '').split(' ') : [];
    const cleared = excluded.map((id) => document.getElementById(id)).filter((box) => box?.checked);
    for (const box of cleared) box.checked = false;
    const boxes = [target, ...cleared].map(({ id, checked }) => ({ id, checked }));
    const change = {};
    for (const { id } of boxes) unkept.set(id, change);
    const body = new URLSearchParams(boxes.flatMap(({ id, checked }) => (checked ? [[id, 'yes']] : [])));
    const removed = boxes.flatMap(({ id, checked }) => (checked ? [] : id.replace('made-', '')));
    body.set('kept', removed.join(' '));
    keeping = keeping.then(async () => {
      let isKept = false;
      try {
        const answer = await fetch(address, { method: 'POST', body });
        if (answer.status === 404) location.reload();
        isKept = answer.ok;
      } catch {
        // The request failed, so the boxes return to their earlier state below.
      }
      for (const { id, checked } of boxes) {
        const box = document.getElementById(id);
        if (box && !isKept) box.checked = !checked;
        box?.toggleAttribute('checked', isKept ? checked : !checked);
        if (unkept.get(id) === change) unkept.delete(id);
        keptAt.set(id, requests);
      }
    });
  });

  /** Shows the server's times in the time zone of the browser. */
  function showTimes() {
    for (const time of document.querySelectorAll('time'))
      time.textContent = new Date(time.dateTime).toLocaleString([], {
        ...(time.dataset.shown === 'date' && { dateStyle: 'medium' }),
        timeStyle: 'short',
      });
  }

  // A link to a part inside a closed box opens that box. The browser then closes the neighbouring boxes.
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    const part = link && document.getElementById(link.getAttribute('href').slice(1));
    if (!part) return;
    event.preventDefault();
    const box = part.closest('details');
    if (box) box.open = true;
    const top = part.parentElement === box ? box : part;
    top.scrollIntoView();
    top.querySelector('summary')?.focus({ preventScroll: true });
  });

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return;
    } catch {
      // The clipboard is not available without https, or not allowed: the text is copied by a selection.
    }
    const area = document.createElement('textarea');
    area.value = text;
    area.setAttribute('readonly', '');
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  document.addEventListener('click', async ({ target }) => {
    const button = target.closest?.('button[data-copy]');
    if (!button) return;
    await copy(button.dataset.copy);
    button.dataset.label ??= button.textContent;
    button.textContent = 'Copied';
    button.focus({ preventScroll: true });
    await pause(2_000);
    button.textContent = button.dataset.label;
  });

  document.addEventListener('submit', async (event) => {
    const form = event.target;
    if (form.dataset.plain !== undefined) return;
    event.preventDefault();
    const button = form.querySelector('button');
    if (button.getAttribute('aria-busy') === 'true') return;
    button.setAttribute('aria-busy', 'true');
    const label = button.textContent;
    if (form.dataset.busy) button.textContent = form.dataset.busy;
    const body = new URLSearchParams(new FormData(form));
    try {
      const { answer, show } = await ask(form.action, { method: 'POST', body });
      if (answer.status === 404) location.reload();
      else await show();
    } catch {
      form.submit();
    } finally {
      button.removeAttribute('aria-busy');
      button.textContent = label;
    }
  });

  const shown = () =>
    new Promise((resolve) => {
      if (!document.hidden) resolve();
      else document.addEventListener('visibilitychange', () => resolve(shown()), { once: true });
    });

  async function follow() {
    const leaving = new AbortController();
    addEventListener('pagehide', () => leaving.abort());
    while (!leaving.signal.aborted) {
      await shown();
      try {
        const address = `${main.dataset.progress}&seen=${main.dataset.version}`;
        const { answer, show } = await ask(address, { signal: leaving.signal });
        if (answer.status === 404) {
          location.reload();
          return;
        }
        if (answer.status === 200) await show();
        const seconds = Number(answer.headers.get('retry-after') ?? (answer.ok ? 0 : 5));
        if (seconds > 0) await pause(seconds * 1_000);
      } catch {
        await pause(3_000);
      }
    }
  }

  showTimes();
  if (main.dataset.progress) follow();
  addEventListener('pageshow', ({ persisted }) => persisted && main.dataset.progress && follow());
})();
