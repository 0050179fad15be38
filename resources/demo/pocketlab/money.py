"""Exact amounts of money, kept in whole minor units."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

DECIMALS = {"EUR": 2, "JPY": 0, "KWD": 3, "USD": 2}


@dataclass(frozen=True)
class Money:
    """An amount in one currency; `minor` counts its smallest unit."""

    minor: int
    currency: str

    def __post_init__(self) -> None:
        if self.currency not in DECIMALS:
            raise ValueError(f"unknown currency {self.currency!r}")

    @classmethod
    def parse(cls, text: str) -> "Money":
        """Read an amount such as '-1,250.40 EUR'; more decimals are refused."""
        number, _, currency = text.strip().rpartition(" ")
        try:
            value = Decimal(number.replace(",", ""))
        except InvalidOperation:
            raise ValueError(f"not an amount: {text!r}") from None
        minor = value.scaleb(DECIMALS.get(currency, 0))
        if minor != minor.to_integral_value():
            raise ValueError(f"{text!r} is finer than the smallest unit")
        return cls(int(minor), currency)

    def __add__(self, other: "Money") -> "Money":
        self._require_same_currency(other)
        return Money(self.minor + other.minor, self.currency)

    def __sub__(self, other: "Money") -> "Money":
        self._require_same_currency(other)
        return Money(self.minor - other.minor, self.currency)

    def __str__(self) -> str:
        places = DECIMALS[self.currency]
        value = Decimal(self.minor).scaleb(-places)
        return f"{value:,.{places}f} {self.currency}"

    def scaled(self, factor: Decimal) -> "Money":
        """Multiply; half a unit goes to the even neighbour."""
        exact = self.minor * factor
        return Money(int(exact.to_integral_value(ROUND_HALF_EVEN)), self.currency)

    def in_cash(self, coin: int) -> "Money":
        """Round to a multiple of the smallest coin, halves away from zero."""
        coins, rest = divmod(abs(self.minor), coin)
        if 2 * rest >= coin:
            coins += 1
        sign = -1 if self.minor < 0 else 1
        return Money(sign * coins * coin, self.currency)

    def allocate(self, weights: Sequence[int]) -> list["Money"]:
        """Share out in proportion to the weights without losing a unit.

        Units left over go to the largest fractions, to the earlier share when
        fractions are equal. A debt is shared like the same amount of credit.
        """
        whole = sum(weights)
        if whole <= 0 or min(weights) < 0:
            raise ValueError("weights must not be negative, nor all zero")
        amount = abs(self.minor)
        shares = [amount * weight // whole for weight in weights]
        fractions = [amount * weight % whole for weight in weights]
        by_fraction = sorted(range(len(weights)), key=lambda i: -fractions[i])
        for index in by_fraction[: amount - sum(shares)]:
            shares[index] += 1
        sign = -1 if self.minor < 0 else 1
        return [Money(sign * share, self.currency) for share in shares]

    def _require_same_currency(self, other: "Money") -> None:
        if self.currency != other.currency:
            raise ValueError(f"cannot mix {self.currency} and {other.currency}")


def split_gross(gross: Money, percent: Decimal) -> tuple[Money, Money]:
    """Take a price apart into net and tax, so that both add up to it again."""
    net = gross.scaled(100 / (100 + percent))
    return net, gross - net


def instalments(debt: Money, count: int, smallest: int) -> list[Money]:
    """Divide a debt into payments of equal size, the odd units in the last.

    No payment falls below `smallest` minor units: fewer are made instead, and
    a single one always is.
    """
    if count < 1:
        raise ValueError("at least one payment is needed")
    payments = max(1, min(count, debt.minor // smallest))
    each = debt.minor // payments
    amounts = [each] * payments
    amounts[-1] += debt.minor - each * payments
    return [Money(amount, debt.currency) for amount in amounts]
