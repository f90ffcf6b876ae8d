'use strict';
// Tables that can be filtered, ordered and grouped, and links into folded parts. Without scripts
// the tables stay as written. A .filterable describes its rows in data attributes. Without a filter
// or an order rows stay where they are; else the matching rows move to a result table.
const in_words = new Intl.Collator('en', {numeric: true});  // node9 before node10
function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
function counted(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  return counts;
}
// Empty texts come last.
const compare = (one, other) => (one === '') - (other === '') || in_words.compare(one, other);
function make_filterable(section) {
  const {table: style, rows: what, choice, group, hint} = section.dataset;
  const homes = [...section.querySelectorAll('table.' + style)];
  if (homes.length === 0) return () => {};
  const titles = [...homes[0].tHead.rows[0].cells].map(cell => cell.textContent);
  const cell = (row, title) => row.cells[titles.indexOf(title)].textContent;
  // A column of the table, or the data attribute of a surrounding element.
  const told = (row, name) => titles.includes(name) ? cell(row, name)
    : row.closest(`[data-${name}]`).dataset[name];
  const entries = homes.flatMap(home => [...home.tBodies[0].rows].map(row => (
    {row, home: home.tBodies[0], choice: told(row, choice), group: told(row, group)})));
  const choices = counted(entries.map(entry => entry.choice));
  const ranks = new Map([...choices.keys()].map((name, i) => [name, i]));  // worst first
  const groups = counted(entries.map(entry => entry.group));
  const always_grouped = !titles.includes(group) && groups.size > 1;

  const search = element('input', {type: 'search', placeholder: hint, ariaLabel: 'Filter ' + what});
  const choose = element('select', {ariaLabel: choice}, new Option(`any ${choice}`, ''),
    ...[...choices].map(([name, n]) => new Option(`${name} (${n})`, name)));
  const orders = section.dataset.orders.split(' ');
  const order_by = element('select', {className: 'order', ariaLabel: 'Order'}, new Option('as found', ''),
    ...orders.map(title => new Option('by ' + title, title)));
  const by_group = element('input', {type: 'checkbox'});
  const tally = element('output', {});
  const form = element('form', {className: 'filter', onsubmit: () => false}, search, choose, order_by);
  if (titles.includes(group) && groups.size > 1) {
    form.append(element('label', {}, by_group, ` grouped by ${group}`));
  }
  form.append(tally);
  const result = homes[0].cloneNode(false);
  result.append(homes[0].tHead.cloneNode(true));
  result.classList.add('result');
  result.hidden = true;
  section.prepend(form, result);

  let downwards = false;
  const text = entry => entry.text ??=
    [entry.group, entry.choice, ...[...entry.row.cells].map(one => one.textContent)].join(' ').toLowerCase();
  function matching() {
    const words = search.value.toLowerCase().split(/\s+/);
    const found = entries.filter(entry => (!choose.value || entry.choice === choose.value) &&
      words.every(word => text(entry).includes(word)));
    const title = order_by.value;
    if (!title) return found;
    const key = title === choice ? entry => ranks.get(entry.choice) : entry => cell(entry.row, title);
    const keyed = found.map(entry => ({entry, key: key(entry)}));
    keyed.sort((one, other) => compare(one.key, other.key) * (downwards ? -1 : 1));
    return keyed.map(one => one.entry);
  }
  const share = (n, all) => (n < all ? `${n} of ${all} ` : `${all} `) + what;
  function heading(name, members) {
    const kinds = counted(members.map(entry => entry.choice));
    const said = kinds.size > 5 ? '' : ': ' + [...kinds].map(([kind, n]) => `${n} ${kind}`).join(', ');
    const title = element('th', {colSpan: titles.length, scope: 'rowgroup'}, name + ' ',
      element('span', {className: 'note'}, `${share(members.length, groups.get(name))}${said}`));
    return element('tr', {className: 'group'}, title);
  }
  function bodies(found) {
    const rows = of => of.map(entry => entry.row);
    if (!by_group.checked && !always_grouped) return [element('tbody', {}, ...rows(found))];
    const by_name = new Map();  // in the order of first entries: worst first by default
    for (const entry of found) by_name.set(entry.group, [...by_name.get(entry.group) || [], entry]);
    return [...by_name].map(([name, members]) =>
      element('tbody', {}, heading(name, members), ...rows(members)));
  }
  function show() {
    const asked = search.value.trim() || choose.value || order_by.value || by_group.checked;
    section.classList.toggle('filtered', Boolean(asked));
    result.hidden = !asked;
    for (const body of [...result.tBodies]) body.remove();
    if (asked) {
      const found = matching();
      result.append(...bodies(found));
      tally.textContent = share(found.length, entries.length);
    } else {
      for (const entry of entries) entry.home.append(entry.row);
      tally.textContent = '';
    }
    for (const head of result.tHead.rows[0].cells) {
      const ordered = order_by.value && head.textContent === order_by.value;
      head.ariaSort = ordered ? (downwards ? 'descending' : 'ascending') : null;
    }
  }
  function order(title) {  // ascending, descending, original order
    const again = order_by.value === title;
    if (!again || downwards) order_by.value = again ? '' : title;
    downwards = again && !downwards;
    show();
  }
  for (const table of [result, ...homes]) {
    for (const head of table.tHead.rows[0].cells) {
      const title = head.textContent;
      if (!orders.includes(title)) continue;
      head.replaceChildren(element('button', {type: 'button', onclick: () => order(title)}, title));
    }
  }
  let waiting = 0;
  search.oninput = () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 120);
  };
  order_by.onchange = () => {
    downwards = false;
    show();
  };
  choose.onchange = by_group.onchange = show;
  return () => {
    form.reset();
    show();
  };
}
const resets = [...document.querySelectorAll('.filterable')].map(make_filterable);

// Folds long tables on a phone.
if (matchMedia('(max-width: 599px)').matches) {
  for (const one of document.querySelectorAll('.narrow')) one.open = false;
}
// Unfolds the part to which a link leads.
function unfold() {
  const id = decodeURIComponent(location.hash.slice(1));
  if (!id) return;
  for (const reset of resets) reset();
  const target = document.getElementById(id);
  for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  if (target) target.scrollIntoView();
}
addEventListener('hashchange', unfold);
unfold();
