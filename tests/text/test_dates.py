"""A text that is a time, in every spelling of the formats that are read."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.text import dates
from segviz.text.dates import read_time, read_times

MAY = datetime(2023, 5, 8)
AT = datetime(2023, 5, 8, 13, 56)
EAST = datetime(2023, 5, 8, 15, 56, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        # Numbers since 1970.
        (1_700_000_000, datetime(2023, 11, 14, 22, 13, 20)),
        (1_700_000_000_000, datetime(2023, 11, 14, 22, 13, 20)),
        (1_700_000_000_000_000, datetime(2023, 11, 14, 22, 13, 20)),
        ("1700000000.5", datetime(2023, 11, 14, 22, 13, 20, 500_000)),
        # ISO 8601.
        ("2023-05-08T13:56:00Z", AT.replace(tzinfo=UTC)),
        ("2023-05-08T15:56:00+02:00", EAST),
        ("2023-05-08 13:56", AT),
        # Numbers whose order their marks tell, with a weekday in any language.
        ("2023/05/08 (Mon) 13:56", AT),
        (" 2023/5/8 (lun.)  13:56 ", AT),
        ("2023-05-08 (Monday)", MAY),
        ("8.5.2023, 13:56:00", AT),
        ("2023-05-08 15:56:00 +02:00", EAST),
        # The order of China, Japan and Korea, the half of the day before the time.
        ("2023年5月8日 下午1:56", AT),
        ("2023年5月8日星期一 下午1点56分", AT),
        ("2023年5月8日（月）午後1時56分", AT),
        ("2023년 5월 8일 월요일 오후 1시 56분", AT),
        ("2023. 5. 8. 오후 1:56", AT),
        ("2023/5/8 凌晨12:09", datetime(2023, 5, 8, 0, 9)),
        ("２０２３年５月８日", MAY),
        # Months in words.
        ("1:56 pm on 8 May, 2023", AT),
        ("12:09 am on 8 May, 2023", datetime(2023, 5, 8, 0, 9)),
        ("0:09 a.m. on 8 May, 2023", datetime(2023, 5, 8, 0, 9)),
        (" 1:56 PM  on 8 may 2023 ", AT),
        ("PM 1:56, 8 May 2023", AT),
        ("Monday, 8 May, 2023", MAY),
        ("May 8th, 2023, 1:56\u202fPM", AT),
        ("8-May-2023 13:56", AT),
        ("Mon, 8 May 2023 15:56:00 +0200", EAST),
        ("8 May 2023 13:56 UTC", AT.replace(tzinfo=UTC)),
        ("Sept 8 2023 at 13:56:07", datetime(2023, 9, 8, 13, 56, 7)),
    ],
)
def test_times_of_all_spellings(written, expected):
    time = read_time(written)
    assert time == expected
    assert time.utcoffset() == expected.utcoffset()


@pytest.mark.parametrize(
    "written",
    [
        *(0, 1.0, -5, 10**30, True, math.nan, math.inf, None, [], ""),
        *("56988-01-01", "9999-12-31T23:59:59-23:59", "0000/01/01", "8 May 0000"),
        *("2023/02/29 (Wed) 10:00", "2023/05/08 24:00", "2023/05-08", "2023/05/0813:56"),
        *("28/05/2023", "31 June 2023", "13:56 pm on 8 May, 2023"),
        *("1:60 pm on 8 May, 2023", "May 2023", "8 May", "8 May 23", "May", "13:56"),
        *("8 May 2023 EST", "8 May 2023 -0700", "1:56 2:30 8 May 2023", "8 mei"),
        *("see you on 8 May 2023", "2023/05/28" + " " * 200_000 + "x", "yesterday"),
    ],
)
def test_what_is_no_time_or_leaves_a_part_open(written):
    assert read_time(written) is None


def test_times_with_and_without_a_zone_are_noticed_and_different_zones_are_not():
    zoned = ["2023-05-08T15:56:00+02:00", "2023-05-08T13:57:00Z"]
    assert read_times(zoned) == ([EAST, AT.replace(minute=57, tzinfo=UTC)], [])
    times, notes = read_times([*zoned, "2023-05-08 13:58"])
    assert times[2] == AT.replace(minute=58)
    assert len(notes) == 1


def test_every_month_by_its_name_and_its_first_letters():
    for number in range(1, 13):
        day = datetime(2023, number, 3)
        assert read_time(f"{day:%d %B %Y}") == read_time(f"{day:%b} 3, 2023") == day


parts = st.sampled_from(
    [
        *("8", "31", "2023", "0099", "23", "May", "feb", "December", "Mon", "Sunday", "at", "on"),
        *("1:56", "13:56:07", "0:56", "am", "PM", "st", "+0200", "-0700", "UTC", "of", "T", "/"),
    ]
)


@given(st.lists(parts, max_size=7), st.sampled_from([" ", ", ", "-", "/", "."]))
def test_any_parts_of_a_date_are_a_time_or_none(words, mark):
    for text in (mark.join(words), mark.join(["8", "May", "2023", *words])):
        assert read_time(text) == read_time(text.swapcase())


class TestDated:
    NOW = datetime(2023, 5, 8, 13, 56)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("I ran yesterday.", "I ran yesterday (7 May 2023)."),
            (
                "Friday last? Last Friday!",
                "Friday last? Last Friday (5 May 2023)!",
            ),
            ("last month or year, last year", "last month (April 2023) or year, last year (2022)"),
            ("Two weeks ago", "Two weeks ago (21 to 27 April 2023)"),
            ("I fell on the 15th", "I fell on the 15th (15 April 2023)"),
            ("the week before last", "the week before last (24 to 30 April 2023)"),
            ("this past weekend", "this past weekend (6 to 7 May 2023)"),
            ("A few days ago I ran.", "A few days ago (before 8 May 2023) I ran."),
            ("a couple of years ago", "a couple of years ago (before 8 May 2023)"),
            ("in a few days, in two weeks, in the past year", None),
            (
                "yesterday's bread, last year (?)",
                "yesterday's bread, last year (2022) (?)",
            ),
            ("last year (2019)", None),
            ("in May 2023, on 3 May", None),
        ],
    )
    def test_a_relative_time_gets_its_date_in_brackets(self, text, expected):
        assert dates.dated(text, self.NOW) == (expected or text)

    @given(
        st.lists(
            st.sampled_from(
                "yesterday|today|last Friday|this week|last month|next year|two years ago|"
                "few days ago|on the 3rd|the week before last|I ran|(2019)|, |. ".split("|")
            ),
            max_size=8,
        ).map(" ".join),
        st.datetimes(datetime(1990, 1, 1), datetime(2050, 1, 1)),
    )
    def test_dates_can_be_taken_away_again(self, text, now):
        once = dates.dated(text, now)
        assert dates.dated(once, now) == once
        assert dates.undated(once) == dates.undated(text)


def test_persian_years_have_every_day_once():
    """The first days of spring, and the leap years, as calendars print them."""
    leap = {1383, 1387, 1391, 1395, 1399, 1403, 1408, 1412, 1416, 1420, 1424, 1428}
    day = datetime(2001, 3, 21)
    for year in range(1380, 1431):
        for month in range(1, 13):
            last = 31 if month < 7 else 30 if month < 12 or year in leap else 29
            for number in range(1, last + 1):
                assert read_time(f"{year}/{month}/{number}") == day
                day += timedelta(days=1)
            assert read_time(f"{year}/{month}/{last + 1}") is None
        nowruz = {1400: (2021, 3, 21), 1403: (2024, 3, 20), 1404: (2025, 3, 21)}
        if year + 1 in nowruz:
            assert day == datetime(*nowruz[year + 1])
