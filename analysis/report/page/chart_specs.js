'use strict';
// Vega specifications for each kind of chart. Colours come from style.css, so a dark screen and
// paper need no second drawing. Colour-blind readers can distinguish the colours of lines (Okabe and
// Ito 2008, Tol 2021).
const ink = 'var(--ink)', dim = 'var(--dim)', rule = 'var(--rule)', well = 'var(--well)';
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#999933', '#882255', '#44aa99',
  '#aa4499', '#332288'];
const theme = {
  background: null,
  axis: {labelColor: dim, titleColor: ink, gridColor: rule, domainColor: dim, tickColor: dim, gridOpacity: 0.6},
  axisBottom: {labelOverlap: 'greedy', labelSeparation: 8},
  legend: {labelColor: ink, titleColor: ink, labelLimit: 0},
  title: {color: ink, anchor: 'start', fontSize: 12, fontWeight: 'normal'},
  group: {fill: null},
  style: {'group-title': {fill: ink}, 'guide-label': {fill: dim}, 'guide-title': {fill: ink}},
};
const extent = values => values.reduce(([low, high], one) => [Math.min(low, one), Math.max(high, one)],
  [Infinity, -Infinity]);
const at = (scale, field, more) => ({scale, field, ...more});
const value = constant => ({value: constant});
const signal = expression => ({signal: expression});
const mark = (type, data, update, more) => ({type, from: {data}, encode: {update}, ...more});
const label = (data, update, more) => mark('text', data, {fill: value(ink), fontSize: value(11), ...update}, more);
const viridis = {scheme: 'viridis'};

// Dashed lines; their names stand above the chart, in as few rows as possible without overlaps.
function named_marks(marks, x, width) {
  const ends = [];
  const values = marks.filter(one => one.x >= x.domain[0] && one.x <= x.domain[1])
    .sort((one, other) => one.x - other.x).map(one => {
      const place = x.type === 'log' ? Math.log(one.x / x.domain[0]) / Math.log(x.domain[1] / x.domain[0])
        : (one.x - x.domain[0]) / (x.domain[1] - x.domain[0]);
      const half = 3.2 * (one.label.length + 1);
      const middle = Math.min(Math.max(place * width, half), width - half);
      let line = ends.findIndex(end => end < middle - half);
      if (line < 0) line = ends.length;
      ends[line] = middle + half;
      return {...one, y: -6 - 13 * line};
    });
  const colour = signal("datum.tlb ? 'var(--tlb)' : 'var(--ink)'");
  return {
    data: {name: 'marks', values},
    offset: 6 + 13 * ends.length,
    marks: [
      mark('rule', 'marks', {x: at('x', 'x'), y: value(0), y2: signal('height'), stroke: colour,
        strokeDash: signal('datum.tlb ? [2, 3] : [5, 4]')}),
      label('marks', {x: at('x', 'x'), y: {field: 'y'}, fill: colour, text: {field: 'label'},
        align: signal("scale('x', datum.x) > width - 40 ? 'right' : scale('x', datum.x) < 30 ? 'left' : 'center'")}),
    ],
  };
}
// Powers of two; for a narrow range, multiples of one.
function round_bytes([low, high], type) {
  if (type !== 'log') {
    const step = 2 ** Math.max(0, Math.floor(Math.log2((high - low) / 4)));
    return Array.from({length: Math.floor(high / step) - Math.ceil(low / step) + 1},
      (_, i) => (Math.ceil(low / step) + i) * step);
  }
  const first = Math.ceil(Math.log2(low)), octaves = Math.floor(Math.log2(high)) - first;
  return Array.from({length: octaves + 1}, (_, i) => first + i)
    .filter(power => octaves <= 14 || power % 2 === 0).map(power => 2 ** power);
}
const in_bytes = "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.6~g') + ' GiB' : datum.value >= " +
  "1048576 ? format(datum.value / 1048576, '.6~g') + ' MiB' : datum.value >= 1024 ? format(datum.value / 1024, " +
  "'.6~g') + ' KiB' : datum.value + ' B'";

const makers = {
  // Lines through points {line, x, y, text}, with a band if they have low and high. Healthy devices
  // are grey.
  lines(chart, room) {
    const {x, y} = chart;
    const width = Math.min(room - 90, chart.wide ? 860 : 460);
    const well_lines = new Set(chart.grey), dashed = new Set(chart.dashed);
    const points = chart.points.map(one => ({...one, grey: well_lines.has(one.line), dashed: dashed.has(one.line)}));
    const names = [...new Set(points.map(one => one.line))].filter(name => !well_lines.has(name));
    const has_legend = names.length > (well_lines.size > 0 ? 0 : 1) && names.length <= colours.length;
    if (!x.domain) x.domain = extent(points.map(one => one.x));
    const marks = named_marks(chart.marks || [], x, width);
    const colour = [{test: 'datum.grey', value: well}, at('colour', 'line')];
    const place = {x: at('x', 'x'), y: signal("max(0, scale('y', datum.y))")};
    return {
      width, height: chart.wide ? 340 : 180, title: {text: chart.title, offset: marks.offset},
      data: [{name: 'points', values: points}, marks.data],
      scales: [
        {name: 'x', type: x.type, domain: x.domain, range: 'width', ...(x.type === 'log' ? {base: 2} : {zero: false, padding: 0.5})},
        {name: 'y', type: y.type, domain: y.domain || {data: 'points', field: 'y'}, range: 'height',
          ...(y.type === 'log' ? {} : {zero: false, nice: true})},
        {name: 'colour', type: 'ordinal', domain: names, range: colours},
      ],
      axes: [
        x.bytes ? {orient: 'bottom', scale: 'x', title: x.title, grid: true, values: round_bytes(x.domain, x.type),
          encode: {labels: {update: {text: signal(in_bytes)}}}}
          : {orient: 'bottom', scale: 'x', title: x.title, ...(x.type === 'point' ? {labelOverlap: true} : {grid: true, tickCount: 10, format: '~r'})},
        {orient: 'left', scale: 'y', title: y.title, grid: true, tickCount: 6, format: y.type === 'log' ? '~s' : '.4~g'},
      ],
      marks: [...marks.marks, {
        type: 'group', from: {facet: {name: 'one', data: 'points', groupby: 'line'}},
        marks: [
          ...(points.some(one => one.low < one.high) ? [mark('area', 'one', {x: at('x', 'x'), y: at('y', 'low'),
            y2: at('y', 'high'), fill: colour, fillOpacity: value(0.15)})] : []),
          mark('line', 'one', {...place, stroke: colour, strokeWidth: signal('datum.grey ? 1.2 : 1.8'),
            strokeDash: signal('datum.dashed ? [6, 3] : [1, 0]'), tooltip: {field: 'line'}}),
          mark('symbol', 'one', {...place, fill: colour, tooltip: {field: 'text'},
            shape: signal("scale('y', datum.y) < 0 ? 'triangle-up' : 'circle'"),
            size: signal(`datum.text ? scale('y', datum.y) < 0 ? 60 : 16 : 0`)}),
        ],
      }],
      legends: has_legend ? [{stroke: 'colour', orient: 'bottom', columns: room < 600 ? 1 : 3, symbolType: 'stroke'}] : [],
    };
  },
  // Panels of rows and columns, coloured by value.
  heat({title, unit, rows, columns, cells}, room) {
    const width = columns.values.length * Math.min(30, (room - 150) / columns.values.length);
    const axis = (orient, scale, text) => ({orient, scale, title: text, domain: false, ticks: false});
    return {
      title: {text: title, offset: 10},
      data: [{name: 'cells', values: cells}],
      scales: [
        {name: 'row', type: 'band', domain: rows.values, range: [20 * rows.values.length, 0], padding: 0.06},
        {name: 'column', type: 'band', domain: columns.values, range: [0, width], padding: 0.04},
        {name: 'colour', domain: {data: 'cells', field: 'value'}, range: viridis, zero: true},
      ],
      layout: {columns: Math.max(1, Math.floor((room - 70) / (width + 60))), padding: {row: 14, column: 20},
        bounds: 'full', align: 'all'},
      legends: [{fill: 'colour', type: 'gradient', orient: 'right', gradientLength: 110, title: unit,
        format: cells.some((cell) => cell.value >= 1000) ? '~s' : '.3~g'}],
      marks: [{
        type: 'group', from: {facet: {name: 'panel', data: 'cells', groupby: 'panel'}},
        title: {text: signal('parent.panel'), fontSize: 11, anchor: 'middle', offset: 2},
        encode: {enter: {width: value(width), height: value(20 * rows.values.length)}},
        axes: [axis('bottom', 'column', columns.title), axis('left', 'row', rows.title)],
        marks: [
          mark('rect', 'panel', {x: at('column', 'column'), width: {scale: 'column', band: 1}, y: at('row', 'row'),
            height: {scale: 'row', band: 1}, fill: at('colour', 'value'), tooltip: signal(`'${rows.title} ' + datum.row + ', ${
              columns.title} ' + datum.column + ', ' + datum.panel + ': ' + format(datum.value, datum.value < 1000 ? '.4~r' : '.4~s') + ' ${unit}'`)}),
          label('panel', {x: at('column', 'column', {band: 0.5}), y: at('row', 'row', {band: 0.5}), align: value('center'),
            baseline: value('middle'), fontSize: value(8),
            fill: signal("datum.value > 0.55 * domain('colour')[1] ? '#000' : '#fff'"),
            text: signal("format(datum.value, datum.value < 1000 ? '.3~r' : '.2~s')")}, {interactive: false}),
        ],
      }],
    };
  },
  // The SMs of a device; a row for each GPC.
  map({cells, low, high, unit}, room) {
    const columns = extent(cells.map(one => one.x))[1] + 1;
    const cell = Math.min(34, (room - 90 - (room < 600 ? 0 : 90)) / columns);
    const rows = [...new Set(cells.map(one => one.row))];
    return {
      width: columns * cell, height: 34 * rows.length, autosize: 'pad',
      data: [{name: 'sms', values: cells}],
      scales: [
        {name: 'x', domain: [0, columns], range: 'width', nice: false},
        {name: 'y', type: 'band', domain: rows, range: {step: 34}, paddingInner: 0.12},
        {name: 'colour', domain: [low, high], range: viridis, clamp: true, zero: false},
      ],
      axes: [{orient: 'left', scale: 'y', domain: false, ticks: false}],
      legends: [{fill: 'colour', type: 'gradient', title: unit, orient: 'right'}],
      marks: [
        mark('rect', 'sms', {x: at('x', 'x'), width: value(cell - 2), y: at('y', 'row'), height: {scale: 'y', band: 1},
          fill: at('colour', 'value'), stroke: signal("datum.out ? 'var(--bad)' : null"), strokeWidth: value(3),
          tooltip: signal(`'SM ' + datum.sm + (datum.tpc < 0 ? '' : ', TPC ' + datum.tpc) + ', ' + datum.row + ': ' + ` +
            `format(datum.value, '.6~g') + ' ${unit}'`)}),
        label('sms', {x: at('x', 'x', {offset: cell / 2 - 1}), y: at('y', 'row', {band: 0.5}), align: value('center'),
          baseline: value('middle'), fontSize: value(cell < 24 ? 7 : 10), text: {field: 'sm'},
          fill: signal(`datum.value - ${low} > ${0.55 * (high - low)} ? '#000' : '#fff'`)}, {interactive: false}),
      ],
    };
  },
  // The values of a metric, ordered by node, so that a bad node stands out.
  strip({title, median, unit, dots, nodes}) {
    const room = Math.max(0.01 * Math.abs(median), 1e-9);  // scatter below 1 % looks small
    const [least, most] = extent([...dots.map(one => one.value), median - room, median + room]);
    const edge = dots.filter(one => one.out).length > 1 ? 0.2 : 0.1;  // room for names
    const range = [least - edge * (most - least), most + edge * (most - least)];
    const ticks = nodes.length === 1 ? dots.map(dot => [dot.place, dot.rank])
      : nodes.map(node => [node.from + (node.n - 1) / 2, node.node]);
    const place = {x: at('x', 'place'), y: at('y', 'value'), tooltip: {field: 'text'}};
    return {
      width: 820, height: 120, title: {text: title},
      data: [
        {name: 'well', values: dots.filter(one => !one.out)}, {name: 'out', values: dots.filter(one => one.out)},
        {name: 'nodes', values: nodes.filter((_, i) => i % 2 === 1)},
      ],
      scales: [
        {name: 'x', domain: [-0.7, nodes.at(-1).from + nodes.at(-1).n - 0.3], range: 'width', zero: false},
        {name: 'y', domain: range, range: 'height', zero: false},
        {name: 'percent', domain: range.map(one => 100 * (one / median - 1)), range: 'height', zero: false},
      ],
      axes: [
        {orient: 'bottom', scale: 'x', title: nodes.length === 1 ? `rank on ${nodes[0].node}` : 'node',
          values: ticks.filter((_, i) => i % Math.ceil(ticks.length / 16) === 0).map(one => one[0]),
          encode: {labels: {update: {text: signal(`(${JSON.stringify(Object.fromEntries(ticks))})[datum.value]`)}}}},
        {orient: 'left', scale: 'y', title: unit, grid: true, minExtent: 46, tickCount: 4, format: '.4~g'},
        {orient: 'right', scale: 'percent', title: '%', tickCount: 4, format: '+.3~g', minExtent: 34},
      ],
      marks: [
        mark('rect', 'nodes', {x: signal("scale('x', datum.from - 0.5)"), x2: signal("scale('x', datum.from + datum.n - 0.5)"),
          y: value(0), y2: signal('height'), fill: value('var(--shade)'), tooltip: {field: 'node'}}),
        {type: 'rule', encode: {update: {x: value(0), x2: signal('width'), y: {scale: 'y', value: median}, stroke: value(dim)}}},
        mark('symbol', 'well', {...place, size: value(dots.length > 200 ? 12 : 36), fill: value(well), fillOpacity: value(0.75)}),
        mark('symbol', 'out', {...place, size: value(64), fill: value('#d55e00')}, {name: 'out_dots'}),
        label('out_dots', {text: {field: 'datum.name'}}, {transform: [{type: 'label', size: signal('[width, height]'),
          anchor: ['right', 'left', 'top', 'bottom', 'top-right', 'bottom-right', 'top-left', 'bottom-left'],
          offset: [5, 5, 4, 4, 3, 3, 3, 3]}]}),
      ],
    };
  },
};
