// Progressive enhancement: every page works without it; htmx swaps what the server renders.
(() => {
  const $ = (selector, from = document) => from.querySelector(selector);
  const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
  const root = document.documentElement;
  const save = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private mode */ } };

  // One polite region reads out what has changed; what stands in it from the start, or twice, would not be read.
  let unsaid = [];
  function say(text) {
    $('#live').textContent = '';
    if (unsaid.push(text) === 1) setTimeout(() => { $('#live').textContent = unsaid.join(' '); unsaid = []; }, 300);
  }

  function toast(text, level = 'info') {
    const piece = $('#toast-t')?.content.cloneNode(true);
    if (!piece) return null;
    $$(`.toast.${level}`).filter(old => $('p', old).textContent === text).forEach(old => old.remove());
    const element = $('.toast', piece);
    element.classList.add(level);
    $('p', piece).textContent = text;
    $('#toasts').append(piece);
    say(text);
    expire(element);
    return element;
  }
  function expire(element) {                                   // errors, and what can be undone, stay until they are dismissed
    if (!element.matches('.error, .warning, :has(form)')) setTimeout(() => element.remove(), 6000);
  }
  $$('.toast').forEach(expire);
  const said = $$('.toast p').map(text => text.textContent).join(' ');
  if (said) say(said);

  const actions = {
    nav() { root.dataset.nav = root.dataset.nav === 'rail' ? 'full' : 'rail'; save(`nav-${root.dataset.navDefault}`, root.dataset.nav); },
    insp() { root.dataset.insp = root.dataset.insp === 'off' ? 'on' : 'off'; save('insp', root.dataset.insp); },
    theme() { save('theme', root.classList.toggle('dark') ? 'dark' : 'light'); },
    help() { $('#help')?.showModal(); },
    dismiss(button) { button.closest('.toast').remove(); },
  };

  // What was said is copied as who said what; anything else as its text.
  function textOf(source) {
    const said = $$('[data-say]', source);
    const words = piece => $$('.txt, .tool-err, pre', piece).map(part => part.textContent.trim()).join('\n') || piece.textContent.trim();
    return said.length ? said.map(piece => `${piece.dataset.say}: ${words(piece)}`).join('\n\n') : source.textContent;
  }
  // What is laid out or cut is copied as it was written, which the server has.
  async function asWritten(address) {
    if (!address) return null;
    const answer = await fetch(address, { headers: { 'HX-Request': 'true' } });
    if (!answer.ok) throw new Error(answer.status);
    return $('.run-b', new DOMParser().parseFromString(await answer.text(), 'text/html'));
  }
  async function copy(button) {
    const source = button.dataset.copy === 'lang'
      ? $$('pre', button.closest('.lang')).find(pre => pre.offsetParent)
      : $(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(textOf(await asWritten(button.dataset.copyFrom) || source));
      toast('Copied');
    } catch { toast('The browser did not allow copying.', 'error'); }
  }

  // A form that writes is not sent again by a second click; going back to the page, or what answers with a file, frees it.
  const sent = new WeakSet();
  document.addEventListener('submit', event => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== 'post') return;
    if (sent.has(form)) return event.preventDefault();
    sent.add(form);
    setTimeout(() => sent.delete(form), 3000);
  });

  document.addEventListener('click', event => {
    const button = event.target.closest('[data-act]');
    if (button) actions[button.dataset.act]?.(button);
    if (button?.matches('a')) event.preventDefault();          // it leads to where the same is a page
    const source = event.target.closest('[data-copy]');
    if (source) copy(source);
    if (event.target.matches('dialog')) event.target.close();  // a click on the backdrop
  });

  // A slider and its number stay in step; the filled part is set through CSSOM, which a strict CSP allows.
  const paint = range => range.style.setProperty('--slider-value', `${100 * (range.value - range.min) / (range.max - range.min)}%`);
  // Each step of a slider with data-least is the same ratio; its values are round.
  function valueOf({ value, max, dataset: { least, most, unlimited } }) {
    if (unlimited !== undefined && value === max) return 'unlimited';
    if (!least) return value;
    const exact = least * (most / least) ** (value / max), unit = 10 ** Math.floor(Math.log10(exact)) / 50;
    return String(Math.round(Math.round(exact / unit) * unit));
  }
  function placeOf({ max, step, dataset: { least, most } }, text) {
    if (text.trim().toLowerCase() === 'unlimited') return max;
    const number = text.replaceAll(',', step < 1 ? '.' : '');
    return least ? String(max * Math.log(number / least) / Math.log(most / least)) : number;
  }
  document.addEventListener('input', event => {
    const field = event.target, pair = field.dataset.pair && document.getElementById(field.dataset.pair);
    if (!pair) return;
    const range = field.type === 'range' ? field : pair;
    if (range === pair) range.value = placeOf(range, field.value);
    else pair.value = valueOf(range);
    range.setAttribute('aria-valuetext', range === pair ? field.value : pair.value);
    paint(range);
  });

  // What is swapped beside a field that stays says whether the field is in order.
  const mark = note => $$(`[aria-describedby="${note.id}"]:not([type="range"])`).forEach(field => {
    if (note.classList.contains('bad')) field.setAttribute('aria-invalid', 'true');
    else field.removeAttribute('aria-invalid');
  });

  const dress = part => {
    $$('input[type="range"]', part).forEach(paint);
    $$('.fld-w, .ctl-why').forEach(mark);
    $$('dialog[data-open]', part).forEach(dialog => {         // open without JavaScript, modal with it, once
      dialog.removeAttribute('data-open');
      dialog.close();
      dialog.showModal();
    });
  };
  dress(document);

  // What was typed, or brought back by the browser, before htmx listened has told nobody yet. Sliders follow their fields.
  const altered = field => (field.options
    ? $$('option[selected]', field).length && $$('option', field).some(option => option.selected !== option.defaultSelected)
    : 'defaultValue' in field && field.type !== 'range' && (field.value !== field.defaultValue || field.checked !== field.defaultChecked));
  addEventListener('DOMContentLoaded', () => $$('form[hx-trigger^="input"]').forEach(form =>
    [...form.elements].filter(altered).forEach(field => field.dispatchEvent(new Event('input', { bubbles: true })))));

  // Enter takes what was typed into a filter's menu and closes it; the button that opened it would take the same key as its own.
  document.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || !event.target.matches?.('#filters [popover] .input:not([type=checkbox])')) return;
    event.preventDefault();
    event.target.closest('[popover]').hidePopover();
  });

  // Focus survives a swap: by id (or on what data-focus names, if the element goes), else the swapped region itself.
  let focused = null, scrolled = [];
  document.addEventListener('htmx:beforeSwap', event => {
    const active = document.activeElement;
    focused = event.detail.target?.contains(active) && active !== document.body ? active.dataset.focus || active.id : null;
    scrolled = $$('[data-keep-scroll]').map(pane => [pane.id, pane.scrollTop]);
  });
  document.addEventListener('htmx:afterSettle', event => dress(event.target));   // once for each new element
  document.addEventListener('htmx:afterSwap', event => {      // at once, lest a key finds nothing in focus
    scrolled.forEach(([id, top]) => { const pane = top && document.getElementById(id); if (pane) pane.scrollTop = top; });
    if (focused === null || document.activeElement !== document.body) return;
    const next = (focused && document.getElementById(focused)) || event.detail.elt?.closest?.('[tabindex]');
    next?.closest('details:not([open])')?.setAttribute('open', '');
    next?.focus({ preventScroll: true });
    focused = null;
  });

  document.addEventListener('toast', event => toast(event.detail.value, event.detail.level));
  document.addEventListener('announce', event => say(event.detail.value));

  window.convoweb = { actions, save, toast };
})();
