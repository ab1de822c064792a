"""N28 to N32: order, dates and times, and what nobody knows of."""

from tests.malformed_inputs.inputs import ANN, BOB, CHAT, ONE, Input, locomo, read, turn

MIXED = ("2023-11-14T10:00:00Z", "2023-11-14 10:05", 1_700_000_000, "never")
EPOCHS = (1_700_000_000, 1_700_000_000_000, 1_700_000_000_000_000, "1700000000.5")
NEVER = (0, 10**30, True, "56988-01-01")

BACKWARDS: dict[str, object] = {
    "session_10": [{"speaker": "A", "dia_id": "D10:1", "text": "ten"}],
    "session_2": [{"speaker": "A", "dia_id": "D2:1", "text": "two"}],
    "session_2_date_time": "1:56 pm on 9 May, 2023",
    "session_10_date_time": "1:56 pm on 8 May, 2023",
}
UNKNOWN: dict[str, object] = {
    "session_foo": [],
    "session_1_summary": "s",
    "events_session_1": {},
    "x": {"y": []},
}
UNREADABLE = ("yesterday", "8 Mai, 2023", "31/02/2024", "")
"""Texts that are no date."""


def dated(*dates: str) -> str:
    """A WhatsApp export with one message per date."""
    return "\n".join(f"{date}, 10:14 - Ann: hi" for date in dates)


INPUTS: tuple[Input, ...] = (
    read(
        28,
        "session_10 before session_2, dates the other way",
        BACKWARDS,
        [("A", "two"), ("A", "ten")],
        "repaired | file",
    ),
    *(
        read(
            29,
            f"of a session: {raw or 'empty'}",
            locomo(turn(1), session_1_date_time=raw),
            ONE,
            "repaired | session_1_date_time",
        )
        for raw in UNREADABLE
    ),
    *(
        read(
            29,
            f"of a message: {raw or 'empty'}",
            [{**ANN, "date": raw}, {**BOB, "date": raw}],
            CHAT,
            "repaired | file",
        )
        for raw in UNREADABLE
    ),
    read(30, "the day first", dated("03/04/2025", "13/04/2025"), 2),
    read(30, "the month first", dated("04/03/2025", "04/13/2025"), 2),
    # Only with the month first does the time run forward.
    read(30, "as time runs on", dated("3/11/25", "4/2/25", "5/1/25"), 3),
    read(30, "with dots", dated("03.04.25"), 1),
    read(30, "nothing tells", dated("03/04/2025"), 1, "repaired | file"),
    read(
        31,
        "naive, aware, a number, a word",
        [{**ANN, "time": time} for time in MIXED],
        4,
        "repaired | file",
        "repaired | file",
    ),
    read(
        31,
        "seconds to microseconds, 1970 and the year 56988",
        [{**ANN, "time": time} for time in (*EPOCHS, *NEVER)],
        8,
        "repaired | file",
    ),
    read(32, "in LoCoMo", locomo(turn(1, zzz=[1]), **UNKNOWN), ONE),
    read(32, "in records", [{**ANN, "likes": 3, "": None}], ONE),
)
