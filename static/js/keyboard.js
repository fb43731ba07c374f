// Keyboard shortcuts, as queries/shortcuts.py lists them. Single keys are ignored inside fields and can be switched off.
(() => {
  const $ = selector => document.querySelector(selector);
  const $$ = selector => [...document.querySelectorAll(selector)];
  const { actions, save } = window.convoweb;

  let singleKeys = true;
  try { singleKeys = localStorage.getItem('single-keys') !== 'off'; } catch { /* private mode */ }
  const showSingleKeys = () => $$('[data-single-keys]').forEach(box => { box.checked = singleKeys; });
  showSingleKeys();
  document.addEventListener('change', event => {
    if (!event.target.matches('[data-single-keys]')) return;
    singleKeys = event.target.checked;
    save('single-keys', singleKeys ? 'on' : 'off');
    showSingleKeys();
  });

  // Roving focus in the session table, the ledger and the run stream; in the ledger the server says what is selected.
  const rows = () => $$('.tgrid tbody tr[aria-level], .chain tbody tr[tabindex], .stream .run');
  const current = () => document.activeElement.closest('.tgrid tbody tr, .chain tbody tr, .stream .run');
  function select(row) {
    rows().forEach(other => { other.tabIndex = -1; if (other.matches('.tgrid tr')) other.removeAttribute('aria-selected'); });
    row.tabIndex = 0;
    if (row.matches('.tgrid tr')) row.setAttribute('aria-selected', 'true');
  }
  document.addEventListener('focusin', event => { if (rows().includes(event.target)) select(event.target); });
  function focusRow(row) {
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'nearest' });
  }
  function move(step) {
    const list = rows();
    if (!list.length) return false;
    let at = list.indexOf(current());
    if (at < 0) at = list.findIndex(row => row.getAttribute('aria-selected') === 'true');
    if (at < 0 && list[0].matches('.run')) at = firstVisible(list) - (step > 0 ? 1 : 0);
    focusRow(list[Math.max(0, Math.min(list.length - 1, at + step))]);
    return true;
  }
  function firstVisible(list) {
    const top = $('.stream').getBoundingClientRect().top;
    return Math.max(0, list.findIndex(row => row.getBoundingClientRect().bottom > top));
  }
  function moveToLost(step) {
    const list = $$('.run[data-fate="lost"]');
    if (list.length) focusRow(list[(list.indexOf(current()) + step + list.length) % list.length]);
    else press('.jumps [data-fate="lost"]');
  }
  function keepOneRowInTabOrder() {
    const list = $$('.tgrid tbody tr[aria-level]');
    if (list.length && !list.some(row => row.tabIndex === 0)) list[0].tabIndex = 0;
  }
  keepOneRowInTabOrder();
  document.addEventListener('htmx:afterSwap', keepOneRowInTabOrder);

  const onRow = () => document.activeElement.matches('.tgrid tbody tr, .chain tbody tr, .stream .run');
  const press = selector => { const found = $(selector); found?.click(); return Boolean(found); };
  function toggleRow(expanded) {
    const row = document.activeElement;
    if (!row.matches(`.tgrid tr[aria-expanded="${expanded}"]`)) return false;
    row.querySelector('.caret')?.click();
    return true;
  }
  function toggleTools() {
    const tools = $$('.stream .tool'), asksFirst = tool => tool.matches('[hx-get]');
    const open = tools.some(tool => tool.open) && tools.every(tool => tool.open || asksFirst(tool));
    let asking = 0;                                            // what has to be asked for is not asked for all at once
    tools.forEach(tool => { if (open || !asksFirst(tool) || ++asking <= 20) tool.open = !open; });
  }
  function showThen() {
    const found = current()?.querySelector('[data-saw]');
    found?.click();
    return Boolean(found);
  }
  function openRow() {
    const link = document.activeElement.matches('.tgrid tr, .chain tr') && document.activeElement.querySelector('.t-link');
    link && link.click();
    return Boolean(link);
  }

  // A handler that answers false leaves the key to the browser.
  const keys = {
    j: () => move(1), k: () => move(-1), n: () => press('#find-on') || moveToLost(1), p: () => press('#find-back') || moveToLost(-1), x: toggleTools, w: showThen,
    '?': actions.help, '[': actions.nav, ']': actions.insp,
    '/': () => { const field = $('#q') || $('.nav-search input'); field?.focus(); return Boolean(field); },
    ArrowDown: () => onRow() && (move(1), true), ArrowUp: () => onRow() && (move(-1), true),
    ArrowRight: () => toggleRow(false), ArrowLeft: () => toggleRow(true), Enter: openRow,
  };

  let waiting = 0;                                             // G, then a letter within a second
  function sequence(key) {
    if (key === 'g') { waiting = Date.now(); return true; }
    const second = Date.now() - waiting < 1000;
    waiting = 0;
    return second && /^[a-z]$/.test(key) && press(`[data-go="${key}"]`);
  }

  // ⌘ or Ctrl with a letter works in fields, too, and whatever is switched off.
  function together(key) {
    if (key === 'k' && actions.palette) { actions.palette(); return true; }
    return key === 's' && press('[aria-keyshortcuts~="Control+S"]');
  }

  document.addEventListener('keydown', event => {
    if (event.isComposing || event.altKey || event.defaultPrevented) return;
    if (event.metaKey || event.ctrlKey) {
      if (!event.shiftKey && together(event.key.toLowerCase())) event.preventDefault();
      return;
    }
    if (event.target.closest('input, textarea, select, dialog, [contenteditable], [role="menu"]')) return;
    if (event.key.length === 1 && !singleKeys) return;
    if (sequence(event.key)) return event.preventDefault();
    const handler = keys[event.key];
    const done = handler && handler() !== false
      || /^[a-z1-4]$/.test(event.key) && press(`[aria-keyshortcuts="${event.key.toUpperCase()}"]`);
    if (done) event.preventDefault();
  });
})();
