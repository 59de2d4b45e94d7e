"""How the page of a result looks: its colours, its style sheet, and what the head of the file allows."""

from __future__ import annotations

BADGES = {
    "certified": ("Certified", "#1b6e4b", "#e3f3ea", "The promised precision is reached."),
    "single": ("One model", "#24588f", "#e5eef8", "The answers support one model only."),
    "budget": ("Best estimate", "#6b5a1e", "#f6f0dc", "All answers are used; this is the best estimate."),
    "uncertain": (
        "Uncertain",
        "#8f3f1d",
        "#fbeae1",
        "All answers are in, but something speaks against them: read the warning before you rely on the numbers.",
    ),
    "open": ("Still open", "#4a5563", "#eaedf1", "Answers are still coming in: this is the best estimate so far."),
}
"""Of each status its name, the colours of letters and ground, and what it means."""
COLOURS = "#3b6ea5", "#d9822b", "#4b9b6e", "#a8577e", "#7a6bb0", "#8a6d4b"
"""Of the models, one after another."""
STYLE = """
*{box-sizing:border-box}
body{margin:0 auto;max-width:54rem;padding:2rem 1.25rem;background:#fff;color:#1f2933;line-height:1.5;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{margin:0;font-size:2rem;line-height:1.2;overflow-wrap:anywhere}
h2{margin:2rem 0 .6rem;font-size:1.15rem}
p{margin:.4rem 0;overflow-wrap:anywhere}
small,.quiet,footer{color:#5f6c7b}
small{display:block;font-size:.8rem;font-weight:400;white-space:nowrap}
.status{display:flex;flex-wrap:wrap;gap:.4rem .9rem;align-items:center;margin:.9rem 0 1.2rem}
.badge{padding:.2rem .8rem;border-radius:1rem;border:1px solid;font-weight:600;white-space:nowrap}
dl{display:flex;flex-wrap:wrap;gap:.8rem 2.2rem;margin:0;padding:.8rem 0;border:solid #dfe4ea;border-width:1px 0}
dt{font-size:.8rem;color:#5f6c7b}dd{margin:0;font-size:1.25rem;font-weight:600}
.warning{margin:1.2rem 0;padding:.5rem 1rem;border-left:4px solid #c8643a;background:#fdf4ef}
.share{display:flex;flex-wrap:wrap;align-items:center;gap:.2rem .8rem;margin:.4rem 0}
.share b{width:5rem}.share svg{flex:1 1 10rem;height:1.1rem}.share span{width:8rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.45rem 0 .45rem 1rem;text-align:right;vertical-align:top;border-bottom:1px solid #e6eaef}
.tight{font-size:.85rem}.tight td,.tight th{padding-left:.5rem}.tight small{font-size:.7rem}
td{white-space:nowrap}th:first-child{padding-left:0;text-align:left;overflow-wrap:anywhere;min-width:7rem}
thead th{border-bottom:2px solid #9aa5b1}
img{display:block;max-width:100%;height:auto;margin:0 auto}
footer{margin-top:2.5rem;padding-top:.7rem;border-top:1px solid #dfe4ea;font-size:.85rem}
@media(max-width:32rem){body{padding:1.2rem .8rem}h1{font-size:1.5rem}td,th{padding-left:.7rem;font-size:.9rem}}
@media print{@page{margin:15mm}.wide{overflow:visible}
body{max-width:none;padding:0;font-size:11pt;print-color-adjust:exact;
-webkit-print-color-adjust:exact}h2{break-after:avoid}tr,img,.share,.warning{break-inside:avoid}}
"""
HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none';style-src 'unsafe-inline';img-src data:\">"
)
"""How the file begins: a browser is told to load nothing and to run nothing."""
