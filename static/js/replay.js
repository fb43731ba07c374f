// Replay: one line over the chart and the strips below it, read out as text. Without it the columns' titles tell the same.
(() => {
  const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
  const columnsOf = plots => $$('.col', plots);

  function show(plots, column) {
    const slot = column.querySelector('.slot'), x = Number(slot.getAttribute('x')) + Number(slot.getAttribute('width')) / 2;
    $$('.cross', plots).forEach(line => line.setAttribute('transform', `translate(${x} 0)`));
    plots.querySelector('.readout').textContent = column.querySelector('title').textContent;
    plots.dataset.at = columnsOf(plots).indexOf(column);
  }

  document.addEventListener('pointermove', event => {
    const plot = event.target.closest?.('.plots .plot'), plots = plot?.closest('.plots');
    if (!plots) return;
    const box = plot.getBoundingClientRect(), x = (event.clientX - box.left) * plot.viewBox.baseVal.width / box.width;
    const found = columnsOf(plots).findLast(column => Number(column.querySelector('.slot').getAttribute('x')) <= x);
    if (found) show(plots, found);
  });

  // Arrows step from column to column, Enter goes where a click goes.
  document.addEventListener('keydown', event => {
    if (event.metaKey || event.ctrlKey || event.altKey || !event.target.matches?.('.plot-s')) return;
    const plots = event.target.closest('.plots'), columns = columnsOf(plots);
    if (!columns.length) return;
    const at = Number(plots.dataset.at);
    const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -columns.length, End: columns.length };
    if (event.key in steps) {
      plots.querySelector('.readout').setAttribute('aria-live', 'polite');
      show(plots, columns[Math.max(0, Math.min(columns.length - 1, at + steps[event.key]))]);
    } else if (event.key === 'Enter' && columns[at]) {
      location.assign(columns[at].getAttribute('href'));
    } else return;
    event.preventDefault();
  });
})();
