"""Tests the settings of a sweep by one measure: gain over no propagation, and significance."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from segviz.evaluation import Cell, Mean, Sweep
from segviz.evaluation.measures import MEASURES, sees

Setting = tuple[str, float, int]
"""Policy, alpha and horizon."""

EXACT = 1e-12
"""Differences below this are rounding."""
_FEW = 10
"""Least number of questions of a test; with fewer a bootstrap interval is far too narrow."""


@dataclass(frozen=True, slots=True)
class SettingResult:
    """Mean of a setting over all questions, and mean paired ``gain`` over no propagation."""

    cell: Cell
    mean: Mean
    gain: Mean

    @property
    def setting(self) -> Setting:
        """Policy, alpha and horizon."""
        return self.cell.setting

    @property
    def sign(self) -> int:
        """Sign of the gain if its 95 % interval excludes zero; 0 if it is not significant."""
        return sign_of(self.gain)

    @property
    def words(self) -> str:
        """Mean and gain, each with its 95 % interval, as two lines of a tooltip."""
        gain = estimate(self.gain, plus=True)
        return f"{estimate(self.mean)}<br>{gain} against no propagation"


@dataclass(frozen=True)
class Judged:
    """Results of all settings of a sweep by one measure.

    ``base`` is the mean without propagation. ``verdicts`` has the settings of the policies that can
    change the measure, ``blind`` the other policies. The intervals of the gains are simultaneous
    over all settings of ``sweeps`` sweeps, one for each relevance.
    """

    sweep: Sweep
    measure: str
    adversarial: bool
    base: Mean
    verdicts: dict[Setting, SettingResult]
    blind: tuple[str, ...]
    sweeps: int = 1

    @property
    def label(self) -> str:
        """Name of the measure."""
        return MEASURES[self.measure].label

    @property
    def left_out(self) -> str:
        """Excluded questions, such as " but those of category 5"; "" if all count."""
        kinds = ["those of category 5"] * (not self.adversarial)
        kinds += ["the disputed ones"] * (not self.sweep.baseline.outcomes.count_disputed)
        return f" but {' and '.join(kinds)}" if kinds else ""

    def moved(self, policies: Iterable[str] | None = None) -> list[SettingResult]:
        """Returns the results of the settings that propagate, of some policies or of all."""
        wanted = set(self.sweep.policies if policies is None else policies)
        every = self.verdicts.values()
        return [one for one in every if one.cell.moves and one.cell.policy in wanted]

    def best(self, policies: Iterable[str] | None = None) -> SettingResult | None:
        """Returns the best significantly better setting, else the best; None without a value."""
        chosen = None if policies is None else set(policies)
        better = [one for one in self.moved(chosen) if one.sign > 0]
        if better:
            return max(better, key=lambda one: (one.mean.value, -one.cell.horizon, -one.cell.alpha))
        cell = self.sweep.best(self.measure, chosen, adversarial=self.adversarial)
        return self.verdicts[cell.setting] if cell.moves else None

    def won_lost(self, cell: Cell) -> tuple[int, int]:
        """Counts the questions whose measure a setting raises, and those it lowers."""
        base = self.sweep.baseline.outcomes
        kept = base.keep(adversarial=self.adversarial)
        change = (cell.outcomes.column(self.measure) - base.column(self.measure))[kept]
        return int((change > EXACT).sum()), int((change < -EXACT).sum())


def judge(sweep: Sweep, measure: str, *, adversarial: bool = True, sweeps: int = 1) -> Judged:
    """Tests every setting of a sweep by a measure, with or without questions of category 5.

    The intervals of the gains are simultaneous over ``sweeps`` sweeps (``Sweep.gains``).

    Raises:
        ValueError: the measure is unknown.
    """
    base = sweep.baseline.outcomes.mean(measure, adversarial=adversarial)
    no_gain = sweep.gain(sweep.baseline, measure, adversarial=adversarial)
    gains = sweep.gains(measure, adversarial=adversarial, sweeps=sweeps)
    verdicts = {}
    for cell in sweep.cells:
        if not sees(measure, cell.policy):
            continue
        mean, gain = base, no_gain
        if cell.moves:  # other settings do not propagate, so they equal the baseline
            mean = cell.outcomes.mean(measure, adversarial=adversarial)
            gain = gains[cell.setting]
        verdicts[cell.setting] = SettingResult(cell, mean, gain)
    blind = tuple(policy for policy in sweep.policies if not sees(measure, policy))
    return Judged(sweep, measure, adversarial, base, verdicts, blind, sweeps)


def spelled(cell: Cell) -> str:
    """Returns policy, α and horizon of a cell as text."""
    return f"{cell.policy}, α {cell.alpha:g}, H {cell.horizon}"


def sign_of(gain: Mean) -> int:
    """Returns the sign of a significant gain; 0 for others, and with fewer than ten questions."""
    if gain.n < _FEW:
        return 0
    return int(gain.low > EXACT) - int(gain.high < -EXACT)


def blind_sentence(policies: Iterable[str], *measures: str) -> str:
    """Tells that some policies cannot change some measures, and why; "" without policies."""
    named = " and ".join(policies).capitalize()
    labels = ", ".join(MEASURES[name].label for name in measures)
    if not named or not labels:
        return ""
    return f"{named} cannot change {labels}: a leaf receives nothing from below."


def opening(measure: str) -> str:
    """Returns the name of a measure for the beginning of a sentence."""
    label = MEASURES[measure].label
    return label if label[1].isupper() else label[0].upper() + label[1:]


def number(value: float, *, plus: bool = False) -> str:
    """Formats a number with three decimals, a true minus, and a plus if requested; "" for NaN."""
    if math.isnan(value):
        return ""
    text = f"{round(value, 3) + 0.0:{'+' if plus else ''}.3f}"  # adding 0 turns -0.0 into 0.0
    return text.replace("-", "\N{MINUS SIGN}")


def estimate(mean: Mean, *, plus: bool = False) -> str:
    """Formats a mean with its interval in brackets, if it has one: ``0.814 [0.761, 0.864]``."""
    interval = f" [{number(mean.low)}, {number(mean.high)}]" if mean.has_interval else ""
    return f"{number(mean.value, plus=plus)}{interval}"
