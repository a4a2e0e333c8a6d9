"""How the page of a report looks, on a screen and on paper, and the few lines of script that sort its tables."""

from __future__ import annotations

import base64
import hashlib
from typing import Final

from lineal.plots.paint.theme import THEMES

STYLE: Final = """
*{box-sizing:border-box}
body{margin:0;background:PAPER;color:INK;font:16px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:62rem;margin:0 auto;padding:1rem 1.2rem 4rem}
header{border-left:.6rem solid GOOD;padding:.2rem 1rem;margin:1rem 0 2rem}
header.bad{border-color:BAD}
h1{font-size:1.5rem;line-height:1.25;margin:.2rem 0}
header.good h1{color:GOOD}
header.bad h1{color:BAD}
h2{font-size:1.2rem;margin:2.4rem 0 .6rem;border-bottom:1px solid GRID;padding-bottom:.2rem}
h3{font-size:1rem;margin:1.4rem 0 .4rem}
p,li,dd,h1,h2,h3{overflow-wrap:anywhere}
td,th{overflow-wrap:break-word;max-width:30rem}
dl{display:grid;grid-template-columns:minmax(7rem,auto) 1fr;gap:.2rem 1rem;margin:.6rem 0}
dt{color:QUIET}
dd{margin:0}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:.6rem 0;font-size:.92rem}
th,td{text-align:left;padding:.2rem .9rem .2rem 0;border-bottom:1px solid GRID;vertical-align:top;min-width:3rem}
th{color:QUIET;font-weight:600}
th[data-s]{cursor:pointer}
td.n{text-align:right;font-variant-numeric:tabular-nums}
.yes{color:GOOD}
.no{color:BAD;font-weight:700}
td.yes,td.no{white-space:nowrap}
figure{margin:1rem 0}
figure .wide svg{display:block;width:100%;min-width:34rem;height:auto}
figcaption{color:QUIET;font-size:.92rem}
pre{background:GRID;padding:.6rem .8rem;overflow-x:auto;border-radius:.3rem;font-size:.88rem}
details{margin:.4rem 0}
summary{cursor:pointer;color:QUIET}
nav{font-size:.92rem;columns:2;margin:0 0 1rem}
nav a{color:QUIET;display:block}
@media (max-width:40rem){dl{grid-template-columns:1fr}dt{margin-top:.4rem}nav{columns:1}}
@media print{
body{background:#fff;color:#000;font-size:10.5pt}
main{max-width:none;padding:0}
nav,details:not([open]){display:none}
h2{break-after:avoid}
figure,tr,header,dl{break-inside:avoid}
figure .wide svg{min-width:0;max-height:20cm}
.wide{overflow:visible}
pre{white-space:pre-wrap}
}
"""
SCRIPT: Final = """
document.querySelectorAll('table').forEach(function (table) {
  var heads = table.querySelectorAll('th'), body = table.tBodies[0];
  heads.forEach(function (head, k) {
    head.setAttribute('data-s', '');
    head.tabIndex = 0;
    head.title = 'Sort by this column';
    function sort() {
      var down = head.getAttribute('data-s') === 'up';
      heads.forEach(function (one) { one.setAttribute('data-s', ''); one.removeAttribute('aria-sort'); });
      head.setAttribute('data-s', down ? 'down' : 'up');
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      var rows = Array.prototype.slice.call(body.rows);
      rows.sort(function (a, b) {
        var x = a.cells[k], y = b.cells[k], u = x.getAttribute('data-v'), v = y.getAttribute('data-v');
        var order = u !== null && v !== null ? u - v : x.textContent.localeCompare(y.textContent);
        return down ? -order : order;
      });
      rows.forEach(function (row) { body.appendChild(row); });
    }
    head.addEventListener('click', sort);
    head.addEventListener('keydown', function (event) { if (event.key === 'Enter') { sort(); } });
  });
});
"""


def style(theme: str) -> str:
    """Return the style sheet in the colors of a theme."""
    colors = THEMES[theme]
    sheet = STYLE
    for name, color in (("PAPER", colors.paper), ("INK", colors.ink), ("QUIET", colors.quiet), ("GRID", colors.grid),
                        ("GOOD", colors.good), ("BAD", colors.bad)):  # fmt: skip
        sheet = sheet.replace(name, color)
    return sheet


def policy() -> str:
    """Return what the page may do: its own script by its hash, styles and pictures of its own, no network at all."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    own = f"script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
