'use strict';
// Draws the charts of the data in this page, as wide as there is room. Colours are those of
// style.css, so that a dark screen and paper need no second drawing.
const charts = JSON.parse(document.getElementById('charts').textContent);
const ink = 'var(--ink)', dim = 'var(--dim)', rule = 'var(--rule)';
const theme = {
  background: null,
  axis: {labelColor: dim, titleColor: ink, gridColor: rule, domainColor: dim, tickColor: dim,
    gridOpacity: 0.6},
  axisBottom: {labelOverlap: true},
  legend: {labelColor: ink, titleColor: ink, labelLimit: 0},
  title: {color: ink},
  group: {fill: null},
  style: {'group-title': {fill: ink}, 'guide-label': {fill: dim}, 'guide-title': {fill: ink}},
};
const views = [];
function draw(given, place) {
  const spec = structuredClone(given);
  const room = place.clientWidth || place_of('all_charts').clientWidth;  // 0 where it is folded
  if (spec.width > 0 && (spec.autosize || room < spec.width + 90)) {
    spec.autosize = {type: 'fit-x', contains: 'padding'};
    spec.width = Math.min(room, spec.width + 90);
  }
  const signal = name => (spec.signals || []).find(one => one.name === name);
  if (spec.title) spec.title.limit = room - 20;
  if (signal('room')) signal('room').value = room;
  if (room < 600) {
    for (const legend of spec.legends || []) {
      if (legend.orient === 'right') {
        legend.orient = 'bottom';
        legend.direction = 'horizontal';
        legend.columns = 3;
      } else if (legend.columns) {
        legend.columns = 1;
      }
      legend.labelLimit = room - 60;
    }
    for (const axis of spec.axes || []) if (axis.labelLimit) axis.labelLimit = room * 0.42;
  }
  const view = new vega.View(vega.parse(spec, theme), {renderer: 'svg', container: place, hover: true});
  view.runAsync();
  views.push(view);
  return view;
}
const place_of = id => document.getElementById(id);
function draw_map() {
  const devices = charts.map_devices;
  const device_box = place_of('map_device');
  const metric_box = place_of('map_metric');
  const own_box = place_of('map_own');
  const view = draw(charts.map, place_of('map'));
  const values = map => map.values.filter(value => value !== null);
  const cells = (device, map) => device.layouts[map.values.length]
    .map(cell => ({...cell, value: map.values[cell.sm], out: map.out.includes(cell.sm)}))
    .filter(cell => cell.value !== null);
  const same_metric = name => devices.flatMap(device => device.maps)
    .filter(map => map.metric === name);
  function fill(box, names) {
    const before = box.value;
    box.replaceChildren(...names.map(name => new Option(name, name)));
    if (names.includes(before)) box.value = before;
  }
  function show() {
    const device = devices[device_box.selectedIndex];
    fill(metric_box, device.maps.map(map => map.metric));
    const map = device.maps[metric_box.selectedIndex];
    const range = (own_box.checked ? [map] : same_metric(map.metric)).flatMap(values);
    view.signal('low', Math.min(...range)).signal('high', Math.max(...range))
      .signal('unit', map.unit === '1' ? '' : map.unit).data('sms', cells(device, map)).runAsync();
  }
  fill(device_box, devices.map(device => device.label));
  for (const box of [device_box, metric_box, own_box]) box.onchange = show;
  show();
}
// Dots stand node by node, so that a bad node shows as such.
function draw_strips() {
  const {groups, metrics} = charts.strip_data;
  const in_words = new Intl.Collator('en', {numeric: true});
  for (const group of groups) {
    const order = group.devices.map((_, i) => i).sort((a, b) =>
      in_words.compare(group.devices[a][1], group.devices[b][1]) || group.devices[a][2] - group.devices[b][2]);
    group.places = [];
    order.forEach((device, place) => { group.places[device] = place; });
    group.nodes = [];
    for (const device of order) {
      const node = group.devices[device][1], last = group.nodes.at(-1);
      if (!last || last.node !== node) group.nodes.push({node, from: group.places[device], n: 0});
      ++group.nodes.at(-1).n;
    }
  }
  function fill(spec, metric) {
    const group = groups[metric.group];
    const list = name => spec.data.find(one => one.name === name);
    const known = metric.values.filter(value => value !== null);
    const room = Math.max(0.01 * Math.abs(metric.median), 1e-9);  // scatter below 1 % looks small
    const low = Math.min(...known, metric.median - room), high = Math.max(...known, metric.median + room);
    const edge = metric.out.length > 1 ? 0.2 : 0.1;  // names want room
    const signals = {
      count: group.devices.length, median: metric.median, unit: metric.unit,
      low: low - edge * (high - low), high: high + edge * (high - low),
    };
    for (const [name, value] of Object.entries(signals)) {
      spec.signals.find(one => one.name === name).value = value;
    }
    list('dots').values = metric.values.map((value, i) => {
      const [gpu, node, rank] = group.devices[i];
      return {value, gpu, name: `${node} rank ${rank}`, place: group.places[i], out: metric.out.includes(i)};
    }).filter(dot => dot.value !== null);
    const one_node = group.nodes.length === 1;
    list('nodes').values = group.nodes.map((node, i) => ({...node, shaded: i % 2 === 1}));
    const ticks = one_node ? group.devices.map((device, i) => [group.places[i], device[2]])
      : group.nodes.map(node => [node.from + (node.n - 1) / 2, node.node]);
    const axis = spec.axes.find(one => one.orient === 'bottom');
    const every = Math.ceil(ticks.length / 16);
    axis.values = ticks.filter((_, i) => i % every === 0).map(tick => tick[0]);
    spec.signals.find(one => one.name === 'names').value = Object.fromEntries(ticks);
    axis.title = one_node ? `rank on ${group.nodes[0].node}` : 'node';
    const drawn = group.devices.length < group.n ? `, ${group.devices.length} of ${group.n} drawn` : '';
    const named = metric.out.slice(0, 8).map(i => `${group.devices[i][1]} rank ${group.devices[i][2]}`);
    const out = metric.out.length ? `: ${metric.out.length} of ${group.n} out: ${named.join(', ')}` : '';
    spec.title.text = metric.name + (groups.length > 1 ? `, ${group.label}` : '') + drawn + out;
    return spec;
  }
  const show = (metric, place) => draw(fill(structuredClone(charts.strips), metric), place);
  const place = place_of('strips');
  place.replaceChildren();
  const first = metrics.filter(metric => metric.out.length).slice(0, 6);
  for (const metric of first) show(metric, place.appendChild(document.createElement('div')));
  const box = place_of('strip_metric');
  const more = metrics.filter(metric => !first.includes(metric));
  box.parentElement.hidden = more.length === 0;
  if (more.length === 0) return;
  const before = box.selectedIndex;
  box.replaceChildren(...more.map(metric => new Option(metric.name + (groups.length > 1
    ? `, ${groups[metric.group].label}` : ''))));
  box.selectedIndex = Math.max(0, before);
  const chosen = place_of('strip');
  let view = null;
  box.onchange = () => {
    if (view) views.splice(views.indexOf(view), 1)[0].finalize();
    view = show(more[box.selectedIndex], chosen);
  };
  box.onchange();
}
// A chart, or several beside each other. Returns what draws them.
function draw_into(place, chart) {
  place.replaceChildren();
  if (!Array.isArray(chart)) return [draw(chart, place)];
  return chart.map(one => draw(one, place.appendChild(document.createElement('div'))));
}
const device_charts = new Set((charts.devices || []).flatMap(device => Object.keys(device.charts)));
let device_views = [];
function draw_device() {
  const box = place_of('drawn_device');
  const device = charts.devices[box ? Math.max(0, box.selectedIndex) : 0];
  for (const view of device_views.filter(one => views.includes(one))) {
    views.splice(views.indexOf(view), 1)[0].finalize();
  }
  device_views = [];
  for (const name of device_charts) {
    const chart = device.charts[name];
    place_of(name).closest('.part').hidden = !chart;
    if (chart) device_views.push(...draw_into(place_of(name), chart));
  }
  if (box) place_of('drawn_device_name').textContent = device.label;
}
function draw_all() {
  for (const view of views.splice(0)) view.finalize();
  for (const [name, chart] of Object.entries(charts)) {
    if (['map', 'map_devices', 'strips', 'strip_data', 'devices'].includes(name)) continue;
    draw_into(place_of(name), chart);
  }
  if (charts.strips) draw_strips();
  if (charts.devices) draw_device();
  if (charts.map) draw_map();
}
if (place_of('drawn_device')) {
  place_of('drawn_device').replaceChildren(...charts.devices.map(device => new Option(device.label)));
  place_of('drawn_device').onchange = draw_device;
}
place_of('no_charts').remove();
place_of('all_charts').hidden = false;
draw_all();
let drawn_px = document.body.clientWidth, waiting = 0;
addEventListener('resize', () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (document.body.clientWidth === drawn_px || matchMedia('print').matches) return;
    drawn_px = document.body.clientWidth;
    draw_all();
  }, 200);
});
