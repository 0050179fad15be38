"""Bank accounts in whole cents, with what each kind allows and costs."""

from collections.abc import Iterator
from dataclasses import dataclass


class Refused(Exception):
    """The bank does not do what was asked."""


@dataclass(frozen=True)
class Entry:
    """A line of a statement: what moved, why, and the balance after it."""

    text: str
    cents: int
    balance: int


class Account:
    """An account that cannot be overdrawn."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.closed = False
        self.entries: list[Entry] = []

    @property
    def balance(self) -> int:
        """Cents in the account."""
        return self.entries[-1].balance if self.entries else 0

    def available(self) -> int:
        """Return how much can be withdrawn at once."""
        return self.balance

    def deposit(self, cents: int, text: str = "deposit") -> None:
        """Put money in."""
        self._check(cents)
        self._book(text, cents)

    def withdraw(self, cents: int, text: str = "withdrawal") -> None:
        """Take money out, as far as it is available."""
        self._check(cents)
        if cents > self.available():
            raise Refused(f"only {self.available()} available")
        self._book(text, -cents)

    def end_month(self) -> None:
        """Book what the end of a month brings: here nothing."""

    def close(self) -> int:
        """Pay out the rest and close for good; debts must be paid before."""
        if self.balance < 0:
            raise Refused(f"{-self.balance} still owed")
        rest = self.balance
        if rest:
            self._book("closing", -rest)
        self.closed = True
        return rest

    def statement(self) -> Iterator[str]:
        """Yield the entries as lines: text, signed amount, balance."""
        for entry in self.entries:
            amounts = f"{entry.cents / 100:+10.2f}{entry.balance / 100:10.2f}"
            yield f"{entry.text:<16.16}{amounts}"

    def _check(self, cents: int) -> None:
        if self.closed:
            raise Refused("the account is closed")
        if cents <= 0:
            raise Refused("an amount must be positive")

    def _book(self, text: str, cents: int) -> None:
        self.entries.append(Entry(text, cents, self.balance + cents))


class Checking(Account):
    """May be overdrawn to a limit.

    A withdrawal that takes the account below zero costs a fee, but only if it
    was not below zero already. The fee may break the limit.
    """

    def __init__(self, owner: str, limit: int, fee: int) -> None:
        super().__init__(owner)
        self.limit = limit
        self.fee = fee

    def available(self) -> int:
        """Return the balance and what may be owed."""
        return max(0, self.balance + self.limit)

    def withdraw(self, cents: int, text: str = "withdrawal") -> None:
        """Take money out, and book the fee where one is due."""
        before = self.balance
        super().withdraw(cents, text)
        if before >= 0 > self.balance:
            self._book("overdraft fee", -self.fee)


class Savings(Account):
    """Bears interest, and lets money go only a few times a month.

    Interest is paid every month on the lowest balance of that month, at a
    twelfth of the yearly rate in basis points; fractions of a cent are lost.
    """

    def __init__(self, owner: str, basis_points: int, withdrawals: int = 3) -> None:
        super().__init__(owner)
        self.basis_points = basis_points
        self.withdrawals = withdrawals
        self._used = 0
        self._month_start = 0

    def withdraw(self, cents: int, text: str = "withdrawal") -> None:
        """Take money out while this month's number of times lasts."""
        if self._used >= self.withdrawals:
            raise Refused(f"only {self.withdrawals} withdrawals a month")
        super().withdraw(cents, text)
        self._used += 1

    def end_month(self) -> None:
        """Pay interest and start a new month."""
        booked = self.entries[self._month_start :]
        opening = booked[0].balance - booked[0].cents if booked else self.balance
        lowest = min([opening, *(entry.balance for entry in booked)])
        interest = lowest * self.basis_points // (12 * 10_000)
        if interest:
            self._book("interest", interest)
        self._month_start = len(self.entries)
        self._used = 0


def transfer(source: Account, target: Account, cents: int) -> None:
    """Move money between accounts, or leave both as they were."""
    if source is target:
        raise Refused("both accounts are the same")
    if target.closed:
        raise Refused(f"the account of {target.owner} is closed")
    source.withdraw(cents, f"to {target.owner}")
    target.deposit(cents, f"from {source.owner}")
