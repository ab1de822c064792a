"""Forty kinds of input that break programs, and what reading each must say.

``INPUTS`` holds the inputs by number; the loader tests (tests/loaders/test_malformed_inputs.py) and
the app tests (tests/app/test_malformed_app.py) read the same ones. Every input is either
refused, with what is said of it, or read, with the turns kept and all findings of the load
report. What else a kind asks for is tested beside, by number.

===  ==============================  ===  ===============================================
N01  no bytes                        N21  evidence in any state
N02  nothing in it                   N22  speakers of any kind
N03  cut off                         N23  one speaker alone
N04  almost JSON                     N24  one utterance
N05  two documents in one file       N25  sessions without utterances
N06  one broken line of 1,000        N26  100,000 utterances; one of 5 MB
N07  byte order mark                 N27  larger than what is read
N08  UTF-16                          N28  sessions out of order
N09  Windows-1252                    N29  dates that cannot be read
N10  line ends of every kind         N30  day or month first
N11  control characters              N31  times of all kinds
N12  lone surrogates                 N32  unknown fields
N13  NaN, Infinity, 1e999            N33  gzip, whole and cut
N14  a number of 5,000 digits        N34  archives that expand without end
N15  nested 100,000 deep             N35  archives with names that lead elsewhere
N16  a key twice                     N36  markup in every place
N17  no text                         N37  direction and zero-width characters
N18  text of another type            N38  emoji sequences and combining marks
N19  empty text                      N39  tables of every kind
N20  answers of any kind             N40  another kind of file
===  ==============================  ===  ===============================================
"""

from tests.malformed_inputs import archives, order, texts, turns, whole
from tests.malformed_inputs.inputs import Input

INPUTS: tuple[Input, ...] = (
    *whole.INPUTS,
    *turns.INPUTS,
    *order.INPUTS,
    *archives.INPUTS,
    *texts.INPUTS,
)


def of(number: int) -> list[Input]:
    """The inputs of one kind."""
    return [each for each in INPUTS if each.number == number]
