// Saving and discarding wait for a draft. Without scripts they do not: the form may hold what was not applied yet.
(() => {
  const reason = 'There is no draft: nothing differs from what is saved.';

  function allow(isDrafted) {
    document.querySelectorAll('[data-needs-draft]').forEach(control => {
      if (isDrafted) ['aria-disabled', 'title'].forEach(name => control.removeAttribute(name));
      else { control.setAttribute('aria-disabled', 'true'); control.title = reason; }
    });
  }
  const follow = () => allow(Boolean(document.getElementById('draft-note')?.textContent.trim()));

  follow();
  document.addEventListener('htmx:afterSettle', follow);
  document.addEventListener('htmx:historyRestore', follow);
  // What is being typed is a draft until the server says that it is none.
  document.addEventListener('input', event => { if (event.target.closest('.ctl')) allow(true); });
  document.addEventListener('click', event => {
    event.target.closest('#m-chg a')?.closest('#m-chg').hidePopover();
    if (!event.target.closest('[data-needs-draft][aria-disabled="true"]')) return;
    event.preventDefault();
    window.convoweb.toast(reason);
  });
})();
