'use strict';
const charts = JSON.parse(document.getElementById('charts').textContent);
function draw(spec, id) {
  const view = new vega.View(vega.parse(spec), {renderer: 'svg', container: '#' + id, hover: true});
  view.runAsync();
  return view;
}
if (charts.staircase) draw(charts.staircase, 'staircase');
if (charts.constants) draw(charts.constants, 'constants');
if (charts.roofline) draw(charts.roofline, 'roofline');
if (charts.warps) draw(charts.warps, 'warps');
for (const several of ['sweep', 'surfaces', 'bypass']) {
  (charts[several] || []).forEach((spec, number) => {
    const place = document.createElement('div');
    place.id = several + '_' + number;
    document.getElementById(several).appendChild(place);
    draw(spec, place.id);
  });
}
if (charts.deviation) draw(charts.deviation, 'deviation');
if (charts.timeline) draw(charts.timeline, 'timeline');
if (charts.nest) draw(charts.nest, 'nest');
if (charts.map) {
  const devices = charts.map_devices;
  const device_box = document.getElementById('map_device');
  const metric_box = document.getElementById('map_metric');
  const own_box = document.getElementById('map_own');
  const view = draw(charts.map, 'map');
  const values = map => map.cells.map(cell => cell.value);
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
      .signal('unit', map.unit === '1' ? '' : map.unit).data('sms', map.cells).runAsync();
  }
  fill(device_box, devices.map(device => device.label));
  for (const box of [device_box, metric_box, own_box]) box.addEventListener('change', show);
  show();
}
