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
  const room = place.clientWidth;
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
function draw_all() {
  for (const view of views.splice(0)) view.finalize();
  for (const [name, chart] of Object.entries(charts)) {
    if (name === 'map' || name === 'map_devices') continue;
    const place = place_of(name);
    if (!Array.isArray(chart)) {
      draw(chart, place);
      continue;
    }
    place.replaceChildren();
    for (const one of chart) draw(one, place.appendChild(document.createElement('div')));
  }
  if (charts.map) draw_map();
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
