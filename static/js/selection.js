// Boxes in front of the rows of the list: all at once, a range with Shift, by Space on a row. Without this each is a box.
(() => {
  const boxes = () => [...document.querySelectorAll('.pick')];
  const all = () => document.getElementById('pick-all');
  let last = null;

  function show() {
    const box = all(), list = boxes(), ticked = list.filter(each => each.checked).length;
    if (!box) return;
    box.checked = ticked > 0 && ticked === list.length;
    box.indeterminate = ticked > 0 && ticked < list.length;
  }
  function tick(list, checked) {
    list.forEach(box => { box.checked = checked; });
    show();
  }
  window.convoweb.actions.pick = box => tick(boxes(), box.checked);

  document.addEventListener('click', event => {
    if (!event.target.matches('.pick')) return;
    const list = boxes(), from = list.indexOf(last), to = list.indexOf(event.target);
    if (event.shiftKey && from >= 0) tick(list.slice(Math.min(from, to), Math.max(from, to) + 1), event.target.checked);
    last = event.target;
    show();
  });
  document.addEventListener('keydown', event => {
    const box = event.key === ' ' && event.target.matches('.tgrid tbody tr') && event.target.querySelector('.pick');
    if (!box) return;
    event.preventDefault();
    box.click();
  });
  document.addEventListener('reset', event => event.target.matches('#bulk') && setTimeout(show));
  document.addEventListener('htmx:afterSwap', show);
  window.addEventListener('pageshow', show);
})();
