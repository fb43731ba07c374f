"""Draws curves of shares over steps as an SVG."""

from collections.abc import Iterator, Mapping, Sequence

WIDTH, HEIGHT = 720, 340
LEFT, RIGHT, TOP, BOTTOM = 56, 160, 48, 52
INSET = 24
INK, QUIET, LINE = "#17191f", "#666a73", "#e2e4e7"
COLOURS = ("#1b56ca", "#8a5a00")
LABEL_DISTANCE = 16
STYLE = f"text {{ font: 13px system-ui, sans-serif; fill: {QUIET} }} .title {{ font-weight: 600; fill: {INK} }}"


def drawing(title: str, curves: Mapping[str, Sequence[float]], marked: Sequence[int]) -> str:
    """Return the picture of the curves; each has a value for the steps 1, 2 ..., those of the marked steps are told."""
    steps = len(next(iter(curves.values())))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#ffffff"/>',
        _text(LEFT, 24, title, css="title"),
        *_axes(steps),
        *(line for colour, name in zip(COLOURS, curves, strict=True) for line in _curve(curves[name], marked, colour)),
        *_labels(curves, steps),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _axes(steps: int) -> Iterator[str]:
    for percent in range(0, 101, 20):
        y = _y(percent / 100)
        yield f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="{LINE}"/>'
        yield _text(LEFT - 8, y + 4, _percent(percent / 100), anchor="end")
    for step in (1, *range(5, steps + 1, 5)):
        yield _text(_x(step, steps), HEIGHT - BOTTOM + 20, str(step), anchor="middle")
    yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "summarizing steps", anchor="middle")


def _curve(shares: Sequence[float], marked: Sequence[int], colour: str) -> Iterator[str]:
    points = [(_x(step, len(shares)), _y(share)) for step, share in enumerate(shares, 1)]
    path = " ".join(f"{x},{y}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>'
    for step in marked:
        x, y = points[step - 1]
        yield f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>'
        if step < len(shares):
            yield _text(x, y - 9, _percent(shares[step - 1]), colour=colour, anchor="middle")


def _labels(curves: Mapping[str, Sequence[float]], steps: int) -> Iterator[str]:
    """Name each curve at its end, the names far enough from each other to be read."""
    lowest = float(HEIGHT)
    colours = dict(zip(curves, COLOURS, strict=True))
    for name in sorted(curves, key=lambda name: curves[name][-1]):
        lowest = min(_y(curves[name][-1]) + 4, lowest - LABEL_DISTANCE)
        yield _text(_x(steps, steps) + 10, lowest, f"{name} {_percent(curves[name][-1])}", colour=colours[name])


def _text(x: float, y: float, text: str, *, colour: str = "", css: str = "", anchor: str = "start") -> str:
    look = f' style="fill: {colour}"' if colour else f' class="{css}"' if css else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{look}>{text}</text>'


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _x(step: int, steps: int) -> float:
    return round(LEFT + INSET + (WIDTH - LEFT - RIGHT - INSET) * (step - 1) / (steps - 1), 1)


def _y(share: float) -> float:
    return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - share), 1)
