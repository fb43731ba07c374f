// What goes wrong on the way to the server and back: said in words, with a way to try again.
(() => {
  const { actions, toast } = window.convoweb;
  const PROBE = '/api/v1/health/live', EVERY = 4000;
  const lost = new Map();                                      // by element: what it asked for in vain
  const retries = new WeakMap();                               // by notice: what its button does
  let notice = null, probing = null;

  const text = element => element?.textContent.trim().replace(/\s+/g, ' ').slice(0, 60) || '';
  function nameOf({ elt, triggeringEvent }) {
    const touched = triggeringEvent?.submitter ?? triggeringEvent?.target;
    const pressed = touched?.matches?.('button, input, select, textarea') ? touched : elt;
    return pressed.getAttribute('aria-label') || text(pressed.labels?.[0]) || (pressed.matches('a, button') && text(pressed)) || '';
  }
  const reads = ({ verb, elt }) => verb === 'get' || elt.closest('[data-reads]');   // there forms only ask, however long they are
  function ask({ verb, path, elt, target }) {
    if (elt.isConnected) window.htmx.ajax(verb, path, { source: elt, target }).catch(() => {});   // told by the events below
  }
  function offer(element, retry) {
    if (!element) return;
    retries.set(element, retry);
    element.querySelector('p').after(document.querySelector('#again-t').content.cloneNode(true));
  }
  actions.again = button => {
    const element = button.closest('.toast');
    element.remove();
    retries.get(element)();
  };

  function forget() {
    clearInterval(probing);
    notice?.remove();
    notice = probing = null;
    const asked = [...lost.values()];
    lost.clear();
    return asked;
  }
  function back() {                                            // what only reads is asked for again by itself
    if (!lost.size) return;
    const asked = forget(), unsure = asked.filter(each => !reads(each));
    asked.filter(reads).forEach(ask);
    if (!unsure.length) return toast('Connected again.');
    const names = unsure.map(nameOf).filter(Boolean).map(name => `“${name}”`).join(', ') || 'What you did';
    offer(toast(`Connected again. Whether ${names} arrived is not known; look before you try again.`, 'warning'), () => unsure.forEach(ask));
  }
  function probe() {
    if (notice && !notice.isConnected) return forget();        // dismissed
    fetch(PROBE, { cache: 'no-store' }).then(answer => answer.ok && back()).catch(() => {});
  }
  document.addEventListener('htmx:sendError', ({ detail: { requestConfig } }) => {
    lost.set(requestConfig.elt, requestConfig);
    const names = [...new Set([...lost.values()].map(nameOf).filter(Boolean))].map(name => `“${name}”`);
    notice?.remove();
    notice = toast(`No connection to the server. ${names.length ? `${names.join(', ')} did not arrive` : 'This page is not kept up to date'}.`, 'error');
    offer(notice, () => forget().forEach(ask));
    probing ??= setInterval(probe, EVERY);
  });
  window.addEventListener('online', () => lost.size && probe());
  document.addEventListener('htmx:afterOnLoad', back);

  // What is asked for again and again and is not there any more is not asked for again, and that is said in its place.
  function gone(element) {
    const note = document.querySelector('#gone-t')?.content.cloneNode(true);
    if (!note || !element.matches('[hx-trigger^="every"]')) return false;
    element.replaceWith(note);
    return true;
  }

  // The server's own page about a failure says it best; other answers, of what stands between, are told by their number.
  document.addEventListener('htmx:responseError', ({ detail: { xhr, requestConfig } }) => {
    if (xhr.status === 404 && gone(requestConfig.elt)) return;
    const page = new DOMParser().parseFromString(xhr.responseText, 'text/html');
    const said = [...page.querySelectorAll('#main h1, #main p')].map(text).filter(Boolean);
    const element = toast(said.length ? `${said[0]}. ${said.slice(1).join(' ')}` : `That did not work: the server answered ${xhr.status}.`, 'error');
    if (xhr.status >= 500 || xhr.status === 429) offer(element, () => ask(requestConfig));
  });
})();
