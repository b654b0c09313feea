#!/usr/bin/env python3
"""Draws the rates of one or more records as an SVG: a bar a variant, its spread, and the ceilings.

    draw_rates.py RECORD.json … > PICTURE.svg

A bar ends at the median; the thin line on it goes from the 5 % to the 95 % quantile of the samples. The
two upright lines are the ceilings: what a copy reached in the same run, and the card's data sheet.
"""

import json
import sys
from html import escape
from pathlib import Path

WIDTH, LEFT, RIGHT = 760, 150, 120
ROW, TITLE, TOP, BOTTOM = 26, 34, 54, 64
INK, QUIET, PAPER = "#1a1a1a", "#5f6672", "#ffffff"
BAR, BAR_IN_CACHE, COPY, SHEET = "#2b6cb0", "#93b8dc", "#b7410e", "#5f6672"


def rates(record):
    """(name, GB/s by the median, by the 95 % and by the 5 % quantile of the times, note) for each series."""
    for series in record["series"]:
        rate = series.get("rate")
        if rate:
            times = series["summary"]
            scale = rate["gb_per_s"] * times["median"]
            yield series["name"], rate["gb_per_s"], scale / times["p95"], scale / times["p05"], rate["note"] or ""


def heading(record):
    parameters = ", ".join(f"{k} = {v:,}" if isinstance(v, int) else f"{k} {v}"
                           for k, v in record["input"]["parameters"].items() if v != "")
    cache = "cold cache" if record["plan"]["cold"] else "warm cache"
    return f"{record['program']}, {parameters}, {cache}"


def stamp(record):
    device = record["device"]
    return (f"{device['name']}, driver {device['driver_release']}, {record['compiler']['name']}, "
            f"{record['time'][:10]}; {record['plan']['repeats']} samples each")


def text(x, y, words, size=13, fill=INK, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}">{escape(words)}</text>'


def upright(x, top, bottom, colour):
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="{colour}" stroke-dasharray="4 3"/>'


def draw(records):
    groups = [(heading(r), list(rates(r))) for r in records]
    ceilings = records[0]["ceilings"]
    copy, sheet = ceilings["copy_gb_per_s"], ceilings["data_sheet_gb_per_s"]
    longest = max([sheet or 0, copy] + [high for _, rows in groups for *_, high, _ in rows])
    scale = (WIDTH - LEFT - RIGHT) / (longest * 1.05)
    bottom = TOP + sum(TITLE + ROW * len(rows) for _, rows in groups)
    height = bottom + BOTTOM
    label = "; ".join(f"{title}: " + ", ".join(f"{name} {rate:,.0f} GB/s" for name, rate, *_ in rows)
                      for title, rows in groups)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
             f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" role="img" aria-label="{escape(label)}">',
             f'<rect width="{WIDTH}" height="{height}" fill="{PAPER}"/>']
    for value, colour, words, above in ((copy, COPY, "copy in this run", 20), (sheet, SHEET, "data sheet", 38)):
        if value:
            x = LEFT + value * scale
            parts += [upright(x, above + 4, bottom, colour),
                      text(x + 5, above + 4, f"{words}: {value:,.0f} GB/s", 12, colour)]
    y = TOP
    for title, rows in groups:
        parts.append(text(12, y + 20, title, 13, QUIET))
        y += TITLE
        for name, rate, low, high, note in rows:
            middle = y + ROW / 2
            fill = BAR_IN_CACHE if "cache-resident" in note else BAR
            parts += [text(LEFT - 10, middle + 4, name, anchor="end"),
                      f'<rect x="{LEFT}" y="{y + 4}" width="{rate * scale:.1f}" height="{ROW - 8}" fill="{fill}"/>',
                      f'<line x1="{LEFT + low * scale:.1f}" x2="{LEFT + high * scale:.1f}" y1="{middle}" y2="{middle}" '
                      f'stroke="{INK}" stroke-width="3"/>',
                      text(LEFT + max(rate, high) * scale + 8, middle + 4, f"{rate:,.0f}")]
            y += ROW
    parts += [text(12, bottom + 24, "GB/s = 10⁹ logical bytes a second; bar: median, thick line: 5 % to 95 % of the samples; "
                   "pale: the data fit the L2 cache.", 12, QUIET),
              text(12, bottom + 44, stamp(records[0]), 12, QUIET), "</svg>"]
    return "\n".join(parts) + "\n"


def main(paths):
    if not paths:
        print(__doc__.splitlines()[2].strip(), file=sys.stderr)
        return 2
    try:
        records = [json.loads(Path(path).read_text("utf-8")) for path in paths]
        picture = draw(records)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"draw_rates.py: {' '.join(paths)}: no records with rates: {error!r}", file=sys.stderr)
        return 1
    sys.stdout.write(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
