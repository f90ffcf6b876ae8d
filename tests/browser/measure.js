// What the browser test asks a report for: one object, computed in the page.
(() => {
  const shown = one => one.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true});
  const all = (query, within = document) => [...within.querySelectorAll(query)];
  const box = one => one.getBoundingClientRect();
  const name = one => `${one.tagName}.${one.getAttribute('class') || ''} "${one.textContent.trim().slice(0, 40)}"`;

  function luminance(colour) {
    const linear = colour.match(/[\d.]+/g).slice(0, 3).map(Number).map(value => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  }
  function background(one) {
    for (let at = one; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\)$/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  }
  // WCAG 2.1, contrast ratio.
  function contrast(one) {
    const style = getComputedStyle(one);
    const ink = luminance(one.namespaceURI.endsWith('svg') ? style.fill : style.color);
    const paper = luminance(background(one));
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  }
  const room = document.documentElement.clientWidth;
  const drawings = all('.drawing').filter(shown);
  const texts = drawings.flatMap(drawing => all('dt, dd, b', drawing)).filter(shown);
  const beyond_box = texts.filter(text => {
    const edge = box(text.closest('.unit, .frame, .drawing'));
    const own = box(text);
    return own.right > edge.right + 0.5 || own.left < edge.left - 0.5 || own.bottom > edge.bottom + 0.5;
  });
  const overlapping = drawings.flatMap(drawing => {
    const boxes = texts.filter(text => drawing.contains(text)).map(text => [text, box(text)]);
    return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
      a.left < b.right - 1 && b.left < a.right - 1 && a.top + 3 < b.bottom - 3 && b.top + 3 < a.bottom - 3)
      .map(([other]) => name(one) + ' on ' + name(other)));
  });
  const in_text = all('h1, h2, p, a, td, th, dt, dd, li, summary, pre, figcaption')
    .filter(one => shown(one) && one.textContent.trim());
  return {
    page_width: document.documentElement.scrollWidth,
    page_height: document.documentElement.scrollHeight,
    room,
    beyond_page: all('body *').filter(one => shown(one) && box(one).right > room + 1 &&
      !one.closest('.scrolled')).map(name),
    drawings: drawings.length,
    drawn: texts.map(text => (text.firstChild ? text.firstChild.textContent.trim() : '')),
    units: drawings.flatMap(drawing => all('.unit', drawing)).length,
    beyond_box: beyond_box.map(name),
    overlapping,
    pale: [...in_text, ...texts.filter(text => text.textContent.trim())].filter(one => contrast(one) < 4.5)
      .map(one => name(one) + ' ' + contrast(one).toFixed(2)),
    paper: luminance(background(document.body)),
    charts: all('.chart').filter(shown).map(one => ({
      id: one.id, marks: all('svg path, svg rect', one).length})),
    charts_stand: shown(document.getElementById('all_charts')),
    says_why_no_charts: all('#no_charts').some(shown),
    findings: all('.findings tbody tr').length,
    findings_shown: all('.findings tbody tr').filter(one => shown(one) && box(one).height > 0).length,
    highest_row_px: Math.max(0, ...all('.findings tbody tr').filter(shown).map(one => box(one).height)),
    problems: all('.problem').filter(shown).map(one => one.textContent),
    folded_devices: all('details').filter(one => !one.open).map(one => one.firstElementChild.textContent)
      .filter(text => / that pass$/.test(text)),
    folded_parts: all('.part:not([open])').map(one => one.firstElementChild.textContent),
    first_heading_px: box(document.querySelector('.problem') || document.querySelector('h2')).top,
  };
})()
