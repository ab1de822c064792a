"""What stands around the boxes of a picture: title, levels, axis."""

from __future__ import annotations

from collections.abc import Iterable

from segviz.export.elements import Value, cut, length, mix, number, rect
from segviz.export.plan import AXIS, LEFT, WIDTH, Plan
from segviz.export.text import one_line


def head(plan: Plan, drawn: int) -> Iterable[str]:
    """The question or conversation, the setting, and how many nodes are drawn if not all."""
    view, room = plan.view, WIDTH - 32
    heading = cut(one_line(view.heading, 400), room - 180, 16)
    yield plan.text(16, 26, heading, font_size=16, font_weight="600")
    for y, lines in ((46, view.memory_setting), (63, view.question_setting)):
        said = one_line(" · ".join(f"{name} {value}" for name, value in lines), 600)
        yield plan.text(16, y, cut(said, room, 12), fill=plan.muted)
    active = int(plan.structure.active.sum())
    if drawn < active:
        count = f"showing {drawn} of {active} boxes"
        yield plan.text(WIDTH - 16, 26, count, fill=plan.muted, text_anchor="end")


def margin(plan: Plan, half: int, name: str) -> Iterable[str]:
    """Level names, as many as there is room for, and the name of the half."""
    last = None
    for level in range(len(plan.rows.nodes)):
        middle = (plan.rows.offset[level] + plan.rows.offset[level + 1]) / 2
        if last is not None and middle - last < 13:
            continue
        last = middle
        y = plan.axis_bottom + middle if half else plan.axis_top - middle
        yield plan.text(LEFT - 8, y + 4, f"L{level}", fill=plan.muted, text_anchor="end")
    if name:
        y = plan.axis_bottom + plan.tall / 2 if half else plan.axis_top - plan.tall / 2
        turn = f"rotate(-90 18 {number(y)})"
        yield plan.text(18, y, name, transform=turn, text_anchor="middle")


def axis(plan: Plan) -> Iterable[str]:
    """A band for each session, named and dated where there is room."""
    sessions = plan.view.memory.conversation.sessions
    # All bands lie below all words: a word may be wider than its band.
    places = [
        (LEFT + begin * plan.scale, (stop - begin) * plan.scale, session)
        for begin, stop, session in plan.runs
        if session >= 0
    ]
    for x, width, session in places:
        if session % 2 == 0:
            band = mix(plan.foreground, plan.background, 0.07)
            yield rect(x, plan.axis_top + 2, width, AXIS - 4, fill=band)
        yield rect(x, plan.axis_top + 2, width, 3, fill=plan.session_colours[session])
    edge = 0.0
    for x, width, session in places:
        label, centre = plan.view.session_labels[session], x + width / 2
        half = length(label, 12) / 2
        if centre - half < edge + (0 if 2 * half + 4 <= width else 8):
            continue
        edge = centre + half
        yield plan.text(centre, plan.axis_top + 19, label, text_anchor="middle")
        start, raw = sessions[session].start, sessions[session].raw_date
        date = f"{start.day} {start:%b}" if start else one_line(raw, 40)
        if date and length(date, 11) + 4 <= width:
            small: dict[str, Value] = {"font_size": 11, "fill": plan.muted}
            yield plan.text(centre, plan.axis_top + 34, date, text_anchor="middle", **small)
