// Words that are selected in a run can be followed over the turns: a link beside them leads there.
(() => {
  const offer = document.getElementById('follow-words');
  if (!offer) return;
  const LONGEST = 200;
  let waiting = 0;

  function selected() {
    const selection = document.getSelection();
    const words = selection.toString().trim();
    if (selection.isCollapsed || words.length < 2 || words.length > LONGEST) return null;
    const range = selection.getRangeAt(0), node = range.commonAncestorContainer;
    const inside = (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest('.stream .run-b');
    return inside && { words, place: range.getBoundingClientRect() };
  }
  function show() {
    const found = selected();
    offer.hidden = !found;
    if (!found) return;
    offer.href = `${offer.dataset.page}?${new URLSearchParams({ words: found.words })}`;
    const { width, height } = offer.getBoundingClientRect(), { left, top, bottom } = found.place;
    offer.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    offer.style.top = `${top > height + 60 ? top - height - 6 : bottom + 6}px`;
  }
  document.addEventListener('selectionchange', () => {
    clearTimeout(waiting);
    if (document.activeElement !== offer) waiting = setTimeout(show, 150);
  });
  offer.addEventListener('mousedown', event => event.preventDefault());   // which would end the selection
  document.addEventListener('scroll', () => { offer.hidden = true; }, true);
  document.addEventListener('keydown', event => { if (event.key === 'Escape') offer.hidden = true; });
})();
