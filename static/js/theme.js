// Loaded in <head> without defer: color theme and sidebar are set before the first paint, the clock for the next page.
(() => {
  const root = document.documentElement;
  const saved = key => { try { return localStorage.getItem(key); } catch { return null; } };   // private mode
  const theme = new URLSearchParams(location.search).get('theme') || saved('theme') || 'system';
  const dark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.classList.toggle('dark', dark);
  root.classList.add('js');
  root.dataset.navDefault = root.dataset.nav;
  root.dataset.nav = saved(`nav-${root.dataset.nav}`) || root.dataset.nav;
  root.dataset.insp = saved('insp') || 'on';
  document.cookie = `zone=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=lax`;
  // Paper is light.
  let isDark = false;
  addEventListener('beforeprint', () => { isDark = root.classList.contains('dark'); root.classList.remove('dark'); });
  addEventListener('afterprint', () => root.classList.toggle('dark', isDark));
})();
