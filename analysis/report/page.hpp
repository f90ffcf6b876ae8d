// The fixed parts of report.html: head, style, and the script that draws the charts.
#pragma once

#include <string_view>

namespace sonde {

/// The policy lets nothing be loaded; Vega compiles its expressions, hence unsafe-eval.
inline constexpr std::string_view page_head =
    R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'">
)";

inline constexpr std::string_view page_style = R"(
body { font: 14px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff;
  max-width: 1280px; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; } h1.well { color: #00734f; } h1.bad { color: #b3261e; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: .8rem 0 .3rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: .5rem 0; }
th, td { padding: .15rem .7rem .15rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid #eee; }
td:nth-child(-n+4) { white-space: nowrap; }
th { color: #555; font-weight: 600; } .number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.problem { border-left: 5px solid #b3261e; background: #fdf4f3; padding: .3rem 1rem; margin: .7rem 0; }
.problem.WARN, .problem.INCOMPLETE { border-color: #c77700; background: #fff9ef; }
.problem h3 { margin: .2rem 0; font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: 4rem 1fr; margin: .2rem 0; } dt { color: #555; }
dd { margin: 0; overflow-wrap: anywhere; } code, pre { font-family: ui-monospace, monospace; }
pre { background: #f5f5f5; padding: .6rem; overflow-x: auto; }
details { margin: .6rem 0; } summary { cursor: pointer; font-weight: 600; }
.note { color: #555; } select { font: inherit; margin-right: 1rem; }
@media print { details { display: none; } }
)";

inline constexpr std::string_view map_controls = R"(<h2>Map of the SMs</h2>
<p><select id="map_device" aria-label="device"></select>
<select id="map_metric" aria-label="map"></select>
<label><input type="checkbox" id="map_own"> own colour range</label></p>
<div id="map"></div>
<p class="note">Rows are GPCs, pairs of cells are TPCs, numbers are SMs. Healthy devices differ here: the map is a fingerprint of the die. Red frame: an SM that stands apart.</p>
)";

inline constexpr std::string_view page_script = R"js(
'use strict';
const charts = JSON.parse(document.getElementById('charts').textContent);
function draw(spec, id) {
  const view = new vega.View(vega.parse(spec), {renderer: 'svg', container: '#' + id, hover: true});
  view.runAsync();
  return view;
}
if (charts.staircase) draw(charts.staircase, 'staircase');
if (charts.deviation) draw(charts.deviation, 'deviation');
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
)js";

}  // namespace sonde
