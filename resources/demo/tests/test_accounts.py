import pytest

from pocketlab.accounts import Account, Checking, Entry, Refused, Savings, transfer


@pytest.fixture
def account():
    return Account("ann")


@pytest.fixture
def checking():
    return Checking("bob", limit=500, fee=25)


@pytest.fixture
def savings():
    return Savings("eve", basis_points=600)


def test_a_new_account_is_empty(account):
    assert account.owner == "ann"
    assert account.balance == 0
    assert list(account.statement()) == []


def test_deposit_and_withdraw(account):
    account.deposit(300)
    account.withdraw(120, "rent")
    assert account.balance == 180
    assert account.entries == [Entry("deposit", 300, 300), Entry("rent", -120, 180)]


def test_default_texts(account):
    account.deposit(5)
    account.withdraw(5)
    assert [entry.text for entry in account.entries] == ["deposit", "withdrawal"]


@pytest.mark.parametrize("cents", [0, -5])
def test_amounts_are_positive(account, cents):
    account.deposit(10)
    for action in (account.deposit, account.withdraw):
        with pytest.raises(Refused, match="must be positive"):
            action(cents)
    assert account.balance == 10


def test_no_overdraft(account):
    account.deposit(10)
    with pytest.raises(Refused, match="only 10 available"):
        account.withdraw(11)
    account.withdraw(10)
    assert account.balance == 0


def test_end_of_month_brings_nothing(account):
    account.deposit(10)
    account.end_month()
    assert len(account.entries) == 1


def test_close(account):
    account.deposit(70)
    assert account.close() == 70
    assert account.entries[-1] == Entry("closing", -70, 0)
    for action in (account.deposit, account.withdraw):
        with pytest.raises(Refused, match="account is closed"):
            action(1)


def test_close_an_empty_account(account):
    assert account.close() == 0
    assert account.closed
    assert account.entries == []


def test_debts_keep_an_account_open(checking):
    checking.withdraw(10)
    with pytest.raises(Refused, match="35 still owed"):
        checking.close()
    assert not checking.closed


def test_statement(account):
    account.deposit(123456, "a rather long remark")
    account.withdraw(6)
    assert list(account.statement()) == [
        "a rather long re  +1234.56   1234.56",
        "withdrawal           -0.06   1234.50",
    ]


def test_overdraft_costs_a_fee(checking):
    checking.deposit(100)
    checking.withdraw(101)
    assert checking.balance == -26
    assert checking.entries[-1] == Entry("overdraft fee", -25, -26)


def test_no_fee_at_zero(checking):
    checking.deposit(100)
    checking.withdraw(100)
    assert checking.balance == 0


def test_the_fee_is_taken_once(checking):
    checking.withdraw(10, "first")
    checking.withdraw(10, "second")
    assert [entry.text for entry in checking.entries] == [
        "first",
        "overdraft fee",
        "second",
    ]


def test_overdraft_limit(checking):
    checking.deposit(100)
    assert checking.available() == 600
    with pytest.raises(Refused, match="only 600 available"):
        checking.withdraw(601)
    checking.withdraw(600)
    assert checking.balance == -525
    assert checking.available() == 0


def test_savings_allow_few_withdrawals(savings):
    savings.deposit(1000)
    for _ in range(3):
        savings.withdraw(1)
    with pytest.raises(Refused, match="only 3 withdrawals a month"):
        savings.withdraw(1)
    savings.end_month()
    savings.withdraw(1)


def test_a_refused_withdrawal_does_not_count():
    savings = Savings("eve", basis_points=0, withdrawals=1)
    savings.deposit(10)
    with pytest.raises(Refused, match="only 10 available"):
        savings.withdraw(11)
    savings.withdraw(10)
    assert savings.balance == 0


def test_interest_on_the_lowest_balance(savings):
    savings.deposit(20_000)
    savings.end_month()
    assert savings.balance == 20_000
    savings.withdraw(8_000)
    savings.deposit(5_000)
    savings.end_month()
    assert savings.entries[-1] == Entry("interest", 60, 17_060)


def test_interest_on_the_opening_balance(savings):
    savings.deposit(20_000)
    savings.end_month()
    savings.deposit(5_000)
    savings.end_month()
    assert savings.entries[-1].cents == 100


def test_interest_bears_interest(savings):
    savings.deposit(20_000)
    for _ in range(3):
        savings.end_month()
    assert savings.balance == 20_000 + 100 + 100


def test_interest_loses_fractions(savings):
    savings.deposit(399)
    savings.end_month()
    savings.end_month()
    assert savings.balance == 400
    savings.end_month()
    assert savings.balance == 402


def test_no_interest_no_entry(savings):
    savings.deposit(199)
    savings.end_month()
    savings.end_month()
    assert len(savings.entries) == 1


def test_transfer(account, checking):
    account.deposit(100)
    transfer(account, checking, 60)
    assert account.entries[-1] == Entry("to bob", -60, 40)
    assert checking.entries == [Entry("from ann", 60, 60)]


def test_transfer_to_oneself(account):
    account.deposit(100)
    with pytest.raises(Refused, match="the same"):
        transfer(account, account, 10)
    assert len(account.entries) == 1


def test_a_transfer_moves_all_or_nothing(account, checking):
    checking.close()
    account.deposit(100)
    with pytest.raises(Refused, match="account of bob is closed"):
        transfer(account, checking, 10)
    assert account.balance == 100
    with pytest.raises(Refused, match="only 100 available"):
        transfer(account, Account("zoe"), 101)
