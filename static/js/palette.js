// The commands of ⌘K: focus stays in the field, arrows choose among the options that the server lists below it.
(() => {
  const dialog = document.querySelector('#palette');
  if (!dialog) return;
  const field = dialog.querySelector('[role="combobox"]'), list = dialog.querySelector('[role="listbox"]');
  const options = () => [...list.querySelectorAll('[role="option"]')];
  let chosen = null, listed = null, entered = false;           // listed: the words that the options are about

  function choose(option) {
    chosen?.setAttribute('aria-selected', 'false');
    chosen = option ?? null;
    chosen?.setAttribute('aria-selected', 'true');
    if (chosen) field.setAttribute('aria-activedescendant', chosen.id); else field.removeAttribute('aria-activedescendant');
    chosen?.scrollIntoView({ block: 'nearest' });
  }
  function step(by) {
    const all = options();
    if (all.length) choose(all[(all.indexOf(chosen) + by + all.length) % all.length]);
  }
  function enter() {                                           // what is typed fast is waited for
    entered = listed !== field.value;
    if (!entered) chosen?.click();
  }

  window.convoweb.actions.palette = () => {
    if (dialog.open) return dialog.close();
    dialog.showModal();
    field.select();
    window.htmx.trigger(field, 'commands');
  };
  list.addEventListener('htmx:afterSwap', () => {
    choose(options()[0]);
    if (entered) enter();
  });
  list.addEventListener('htmx:beforeSwap', event => { listed = event.detail.requestConfig.parameters.q ?? ''; });
  field.addEventListener('input', () => { entered = false; });
  dialog.addEventListener('close', () => { entered = false; });
  field.addEventListener('keydown', event => {
    if (event.isComposing) return;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) step(steps[event.key]);
    else if (event.key === 'Enter') enter();
    else return;
    event.preventDefault();
  });
  // Closed first, so that what an action opens or moves is not behind the dialog.
  list.addEventListener('click', event => { if (event.target.closest('[role="option"]')) dialog.close(); });
})();
