// A session that goes on: what changed comes in place; what the reader has opened, selected or scrolled to stays.
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);
  const stream = $('#stream'), came = $('#came');
  if (!stream || !$('#follow')) return;

  // Each look that finds nothing new makes the next come later, up to a minute; a hidden page does not look at all.
  const MOST = 20, NEAR = 80;
  let quiet = 0, skipped = 0;
  const selecting = () => { const choice = getSelection(); return !choice.isCollapsed && stream.contains(choice.anchorNode); };
  document.addEventListener('htmx:beforeRequest', event => {
    if (event.target.id !== 'follow') return;
    const early = ++skipped < Math.min(MOST, 1.3 ** quiet);
    if (document.hidden || selecting() || early) event.preventDefault();
    else skipped = 0;
  });
  document.addEventListener('htmx:afterRequest', event => {
    if (event.target.id === 'follow') quiet = event.detail.xhr.status === 200 ? 0 : quiet + 1;
  });
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    quiet = 0;
    document.body.dispatchEvent(new Event('look', { bubbles: true }));
  });
  document.addEventListener('look', () => { skipped = MOST; }, true);

  const atEnd = () => stream.scrollHeight - stream.scrollTop - stream.clientHeight < NEAR;
  const toEnd = () => { stream.scrollTop = stream.scrollHeight; };
  const firstSeen = () => [...stream.querySelectorAll('.run')].find(run => run.getBoundingClientRect().bottom > stream.getBoundingClientRect().top);
  let unread = 0, before = null;
  function tell(count) {
    unread = count;
    came.hidden = !count;
    if (count) $('span', came).textContent = `${count.toLocaleString('en')} new run${count === 1 ? '' : 's'}`;
  }
  came.addEventListener('click', () => { toEnd(); tell(0); [...stream.querySelectorAll('.run')].at(-1)?.focus({ preventScroll: true }); });
  stream.addEventListener('scroll', () => { if (unread && atEnd()) tell(0); }, { passive: true });

  // A run that looks as before stays the same element, with what is open in it.
  function keepRuns(old, fragment) {
    for (const run of fragment.querySelectorAll('.run')) {
      const there = old.querySelector(`#${run.id}`);
      if (there && there.dataset.version === run.dataset.version) run.replaceWith(there);
    }
  }
  document.addEventListener('htmx:oobBeforeSwap', event => {
    const { target, fragment } = event.detail;
    if (target.id !== 'tail') return;
    const anchor = firstSeen();
    before = { end: atEnd(), last: Number(target.dataset.last), anchor: anchor?.id, top: anchor?.getBoundingClientRect().top, focus: document.activeElement?.closest('#tail') && document.activeElement.id };
    keepRuns(target, fragment);
  });
  document.addEventListener('htmx:oobAfterSwap', event => {
    const tail = $('#tail');
    if (!before || !tail || event.detail.target.id !== 'tail') return;
    const { end, last, anchor, top, focus } = before, there = anchor && document.getElementById(anchor);
    before = null;
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
    if (end) toEnd();
    else if (there) stream.scrollTop += there.getBoundingClientRect().top - top;
    const added = Number(tail.dataset.last) - last;
    if (added > 0 && !end) tell(unread + added);
    if (added > 0) $('#live').textContent = `${added} new run${added === 1 ? '' : 's'}`;
  });
})();
