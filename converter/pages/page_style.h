// The style of all pages, and the script that sorts tables and describes what the pointer is on. Colors c0 to c9 follow
// the order of Purpose: pale under dark text, dark under pale text, with a contrast of at least 4.5 : 1 (WCAG 2.1).
// Colors k0 to k5 are for lines.
#ifndef BANTAM_CONVERTER_PAGES_PAGE_STYLE_H_
#define BANTAM_CONVERTER_PAGES_PAGE_STYLE_H_

namespace bantam::convert {

constexpr const char* kPageStyle = R"(
:root{color-scheme:light dark;--page:#fff;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;--panel:#f6f8fa;--strong:#0a58b0;
--c0:#f7cf9b;--c1:#a9cdf3;--c2:#b2deb0;--c3:#c5c6ee;--c4:#edbce3;--c5:#f3eda2;--c6:#f6b9b1;--c7:#ccd3da;--c8:#eaeef2;--c9:#a6e3da;
--k0:#0a58b0;--k1:#b3261e;--k2:#17702e;--k3:#8a5a00;--k4:#7a3cc2;--k5:#57606a}
@media screen and (prefers-color-scheme:dark){:root{--page:#0f1419;--text:#e8ecf0;--soft:#a3adb8;--line:#39424d;
--panel:#1a2129;--strong:#74b4ff;
--c0:#754a0d;--c1:#1c4c82;--c2:#1f5c2c;--c3:#45437f;--c4:#6b2b63;--c5:#5a5410;--c6:#852f28;--c7:#424c58;--c8:#29313a;--c9:#14595a;
--k0:#74b4ff;--k1:#ff8b82;--k2:#6bd083;--k3:#e8b04a;--k4:#c79bff;--k5:#a3adb8}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1024px;margin:0 auto;padding:16px 16px 64px;overflow-wrap:anywhere}
h1{font-size:1.7em;line-height:1.2;margin:.6em 0 .4em}h2{font-size:1.35em;margin:2em 0 .4em;padding-top:.6em;border-top:1px solid var(--line)}
h3{font-size:1.08em;margin:1.6em 0 .4em}p{margin:.4em 0;max-width:46em}
.soft,figcaption{color:var(--soft)}figcaption{font-size:.9em;margin-top:.5em}
figure{margin:.6em 0 1.2em}figure svg{display:block;width:100%;height:auto}
.wide svg{max-width:960px}.narrow{display:none}
@media screen and (max-width:759px){.wide{display:none}.narrow{display:block}.narrow svg{max-width:480px}}
svg text{fill:var(--text);font:12px system-ui,-apple-system,"Segoe UI",sans-serif}
svg.chart text{paint-order:stroke;stroke:var(--page);stroke-width:3px}
svg .s{font-size:11px}svg .b{font-weight:600}svg .soft{fill:var(--soft)}
.grid{stroke:var(--line);stroke-width:1}.edge{fill:none;stroke:var(--page)}
.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}
.c6{fill:var(--c6)}.c7{fill:var(--c7)}.c8{fill:var(--c8)}.c9{fill:var(--c9)}
.k0{--k:var(--k0)}.k1{--k:var(--k1)}.k2{--k:var(--k2)}.k3{--k:var(--k3)}.k4{--k:var(--k4)}.k5{--k:var(--k5)}
rect.k0,rect.k1,rect.k2,rect.k3,rect.k4,rect.k5{fill:var(--k)}polyline{fill:none;stroke:var(--k);stroke-width:2}.dashed{stroke-dasharray:6 3}
.front{fill:none;stroke:var(--strong);stroke-width:2}.point{fill:var(--page);stroke:var(--soft);stroke-width:2}
.point.best{fill:var(--strong);stroke:var(--strong)}
.leaf{stroke:var(--page);stroke-width:1}.leaf:hover,.point:hover,.bar rect:hover{opacity:.75}
.legend{display:flex;flex-wrap:wrap;gap:2px 16px;margin:0;padding:0;list-style:none}
.swatch{display:inline-block;width:.8em;height:.8em;vertical-align:-.05em;margin-right:.35em}
.stroke{width:1.6em}.bar{display:block;width:100%;min-width:48px;height:10px}.bar rect{stroke:var(--soft);stroke-width:.5}
.scroll{overflow-x:auto;margin:.5em 0}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums;width:100%}
th,td{padding:4px 12px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);overflow-wrap:break-word}
td:not(.n):first-child{min-width:9.5em}
th{font-weight:600;vertical-align:bottom;white-space:nowrap}td.n{white-space:nowrap}.n{text-align:right}th:last-child,td:last-child{padding-right:0}
.sorts{cursor:pointer}.sorts:hover,.sorts:focus{color:var(--strong)}
th[aria-sort=ascending]::after{content:" \25B2"}th[aria-sort=descending]::after{content:" \25BC"}
code{font:.9em ui-monospace,monospace;background:var(--panel);padding:1px 4px;border-radius:4px}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:.5em 0}.facts dt{color:var(--soft)}.facts dd{margin:0}
.note{background:var(--panel);border-left:4px solid var(--strong);padding:8px 12px;margin:.8em 0;max-width:46em}
.note ul{margin:.2em 0;padding-left:1.2em}details{margin:.6em 0}summary{cursor:pointer;color:var(--strong)}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.readout{min-height:1.5em;margin:.3em 0 0;font-size:.9em}a{color:var(--strong)}
@media print{main{max-width:none;padding:0}.scroll{overflow:visible}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}
rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}.readout{display:none}}
)";

constexpr const char* kPageScript = R"(
'use strict';
for (const figure of document.querySelectorAll('figure')) {
  if (!figure.querySelector('title')) continue;
  const line = document.createElement('p');
  line.className = 'readout';
  line.setAttribute('aria-hidden', 'true');
  figure.append(line);
  const show = event => {
    const title = event.target.querySelector && event.target.querySelector(':scope > title');
    if (title) line.textContent = title.textContent;
  };
  figure.addEventListener('pointerover', show);
  figure.addEventListener('click', show);
  figure.addEventListener('pointerleave', () => { line.textContent = ''; });
}
for (const table of document.querySelectorAll('table')) {
  const body = table.tBodies[0];
  if (!body || body.rows.length < 3) continue;
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.textContent) return;
    head.className += ' sorts';
    head.tabIndex = 0;
    const sort = () => {
      const up = head.getAttribute('aria-sort') === 'descending';
      const key = row => row.cells[column].dataset.v ?? -Infinity;  // what has no number comes last
      const text = row => row.cells[column].textContent;
      const order = (a, b) => key(b) - key(a) || text(b).localeCompare(text(a), 'en', {numeric: true});
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      body.append(...[...body.rows].sort((a, b) => up ? order(b, a) : order(a, b)));
    };
    head.addEventListener('click', sort);
    head.addEventListener('keydown', event => { if (event.key === 'Enter') sort(); });
  });
}
)";

}  // namespace bantam::convert

#endif  // BANTAM_CONVERTER_PAGES_PAGE_STYLE_H_
