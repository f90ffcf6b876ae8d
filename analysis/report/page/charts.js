'use strict';
// Draws the charts from the data in this page with Vega, as wide as the page (specifications:
// chart_specs.js), and lets readers choose devices, maps and metrics.
const charts = JSON.parse(document.getElementById('charts').textContent);
const parts = [  // name, heading, note; in the order of the page
  ['sweep', 'Over the sweep', 'Medians of the GPUs of a model, of the metrics that change most; the band goes from the smallest to the ' +
    'largest GPU, or shows the deviation of one.'],
  ['strips', 'Where devices differ most', 'One dot a GPU, node by node. Line: the median; the right scale is the distance from it. Orange, ' +
    'named: GPUs with a finding about this metric.'],
  ['staircase', 'Latency against footprint', 'Dashed: capacities of caches, dotted: reach of TLBs, as most devices ' +
    'found them. Grey: healthy devices. Triangles: beyond the axis.'],
  ['map', 'Map of the SMs', 'Rows are GPCs, pairs of cells are TPCs, numbers are SMs. Healthy devices differ here: ' +
    'the map is a fingerprint of the die. Red frame: an SM that differs from the others.'],
  ['roofline', 'Roofline', 'Solid: what memories give, all SMs together. Dashed: what units compute; a ' +
    'multiply-add is two operations. Both scales are logarithmic.'],
  ['stairs', 'Staircases of caches and TLBs', 'Mean latency of the chases of one GPU that looked for a capacity, ' +
    'against their span. Dashed: capacities of caches, dotted: reach of TLBs, as it found them. A line goes ' +
    'through the chases of one step.'],
];
const of_one_device = new Set((charts.devices || []).flatMap(device => Object.keys(device.charts)));
const place_of = id => document.getElementById(id);
function draw(place, chart) {
  const room = place.clientWidth || place_of('all_charts').clientWidth;  // 0 if folded
  const spec = makers[chart.kind](structuredClone(chart), room);
  if (spec.width && !spec.autosize) {
    spec.autosize = {type: 'fit-x', contains: 'padding'};
    spec.width = Math.min(room, spec.width + 90);
  }
  if (spec.title) spec.title.limit = room - 20;
  for (const legend of spec.legends || []) {
    if (room >= 600) break;
    if (legend.orient === 'right') Object.assign(legend, {orient: 'bottom', direction: 'horizontal', columns: 3});
    legend.labelLimit = room - 60;
  }
  new vega.View(vega.parse({padding: 8, ...spec}, theme), {renderer: 'svg', container: place, hover: true}).runAsync();
}
function draw_into(place, chart) {  // one chart, or several side by side
  place.replaceChildren();
  if (!Array.isArray(chart)) return draw(place, chart);
  for (const one of chart) draw(place.appendChild(document.createElement('div')), one);
}
function choose(box, names) {
  const before = box.value;
  box.replaceChildren(...names.map((name, i) => new Option(name, i)));
  if (before && before < names.length) box.value = before;
}

function draw_map() {
  const [device_box, metric_box, own_box] = ['map_device', 'map_metric', 'map_own'].map(place_of);
  const known = map => map.values.filter(one => one !== null);
  const spread = map => {
    const [low, high] = extent(known(map));
    return map.out.length > 0 ? Infinity : (high - low) / Math.max(Math.abs(high), 1e-9);
  };
  function show() {
    const device = charts.map[device_box.value];
    const map = device.maps[metric_box.value];
    const all = own_box.checked ? [map]
      : charts.map.flatMap(one => one.maps).filter(one => one.metric === map.metric);
    const [low, high] = extent(all.flatMap(known));
    const cells = device.layouts[map.values.length].filter(cell => map.values[cell.sm] !== null)
      .map(cell => ({...cell, value: map.values[cell.sm], out: map.out.includes(cell.sm)}));
    draw_into(place_of('map'), {kind: 'map', cells, low, high, unit: map.unit === '1' ? '' : map.unit});
  }
  function choose_metric() {  // the metric in which SMs differ most
    const maps = charts.map[device_box.value].maps;
    choose(metric_box, maps.map(map => map.metric));
    metric_box.value = maps.indexOf(maps.reduce((one, other) => (spread(other) > spread(one) ? other : one)));
    show();
  }
  choose(device_box, charts.map.map(device => device.label));
  device_box.onchange = choose_metric;
  metric_box.onchange = own_box.onchange = show;
  if (metric_box.options.length === 0) choose_metric(); else show();
}

// Computes the place of each device of a group in a strip, and the nodes below them.
function lay_out(group) {
  const order = group.devices.map((_, i) => i).sort((a, b) =>
    in_words.compare(group.devices[a].node, group.devices[b].node) || group.devices[a].rank - group.devices[b].rank);
  group.nodes = [];
  order.forEach((device, place) => {
    const {node} = group.devices[device];
    group.devices[device].place = place;
    if (group.nodes.at(-1)?.node !== node) group.nodes.push({node, from: place, n: 0});
    ++group.nodes.at(-1).n;
  });
}
const title_of = metric => metric.name + (charts.strips.groups.length > 1 ? `, ${charts.strips.groups[metric.group].label}` : '');
function dots_of(metric) {
  return charts.strips.groups[metric.group].devices.map((device, i) => {
    const name = `${device.node} rank ${device.rank}`, one = metric.values[i];
    return {...device, value: one, name, out: metric.out.includes(i),
      text: `${device.gpu} on ${name}: ${one} ${metric.unit}`};
  }).filter(dot => dot.value !== null);
}
function strip_of(metric) {
  const group = charts.strips.groups[metric.group], dots = dots_of(metric);
  const out = dots.filter(dot => dot.out).slice(0, 8).map(dot => dot.name).join(', ');
  const title = title_of(metric) + (group.devices.length < group.n ? `, ${group.devices.length} of ${group.n} drawn` : '') +
    (out ? `: ${metric.out.length} of ${group.n} out: ${out}` : '');
  return {kind: 'strip', title, median: metric.median, unit: metric.unit, dots, nodes: group.nodes};
}
function draw_strips() {
  const {groups, metrics} = charts.strips;
  groups.forEach(lay_out);
  const out = metrics.filter(metric => metric.out.length).slice(0, 6);
  const first = out.length > 0 ? out : metrics.slice(0, 1);
  draw_into(place_of('strips'), first.map(strip_of));
  const box = place_of('strip_metric'), more = metrics.filter(metric => !first.includes(metric));
  box.parentElement.hidden = more.length === 0;
  if (more.length === 0) return;
  choose(box, more.map(title_of));
  box.onchange = () => draw_into(place_of('strip'), strip_of(more[box.value]));
  box.onchange();
}
function draw_device() {
  const box = place_of('drawn_device');
  const device = charts.devices[box.value || 0];
  for (const name of of_one_device) {
    place_of(name).closest('.part').hidden = !device.charts[name];
    draw_into(place_of(name), device.charts[name] || []);
  }
  place_of('drawn_device_name').textContent = device.label;
}
function draw_all() {
  for (const name of ['sweep', 'staircase']) if (charts[name]) draw_into(place_of(name), charts[name]);
  if (charts.strips) draw_strips();
  if (charts.devices) draw_device();
  if (charts.map) draw_map();
}

const below = {  // controls of a part, above or below its chart
  map: `<p class="map_choice"><select id="map_device" aria-label="device"></select>
    <select id="map_metric" aria-label="map"></select>
    <label><input type="checkbox" id="map_own"> own colour range</label></p>`,
  strips: `<p class="map_choice"><label>another metric <select id="strip_metric"></select></label></p>
    <div class="chart" id="strip"></div>`,
};
function add_parts() {
  const section = place_of('all_charts');
  const shown = parts.filter(([name]) => charts[name] || of_one_device.has(name));
  const narrow = matchMedia('(max-width: 599px)').matches;  // then only two parts are open
  const choice = element('p', {className: 'one_device', innerHTML:
    '<label>Charts of one GPU: <select id="drawn_device"></select></label><b id="drawn_device_name"></b>'});
  choice.hidden = (charts.devices || []).length < 2;
  shown.forEach(([name, heading, note], i) => {
    if (of_one_device.has(name) && !choice.isConnected) section.append(choice);
    const chart = element('div', {className: name === 'stairs' ? 'chart panels' : 'chart', id: name});
    const more = element('div', {innerHTML: below[name] || ''});
    section.append(element('details', {className: 'part', open: name !== 'stairs' && (!narrow || i < 2)},
      element('summary', {}, element('h2', {}, heading)), ...(name === 'map' ? [more, chart] : [chart, more]),
      element('p', {className: 'note'}, note)));
  });
  if (!charts.devices) return;
  choose(place_of('drawn_device'), charts.devices.map(device => device.label));
  place_of('drawn_device').onchange = draw_device;
}
place_of('no_charts').remove();
place_of('all_charts').hidden = false;
add_parts();
draw_all();
unfold();
let drawn_px = document.body.clientWidth, waiting = 0;
addEventListener('resize', () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (document.body.clientWidth === drawn_px || matchMedia('print').matches) return;
    drawn_px = document.body.clientWidth;
    draw_all();
  }, 200);
});
