#: kind class
#: entry Account
#: locals amount
#: prompt
class Account:
    """An account with deposit(amount), withdraw(amount) and the attribute balance, 0 at first. An amount that is not
    positive, or more than there is to withdraw, is a ValueError that changes nothing."""
#: check
def check(candidate):
    def refuses(action, amount):
        try:
            action(amount)
        except ValueError:
            return True
        return False

    account = candidate()
    assert account.balance == 0
    account.deposit(50)
    assert account.balance == 50
    account.withdraw(20)
    assert account.balance == 30
    assert refuses(account.withdraw, 31)
    assert refuses(account.deposit, 0)
    assert account.balance == 30
    other = candidate()
    other.deposit(1)
    assert (account.balance, other.balance) == (30, 1)
#: honest plain
class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("not positive")
        self.balance += amount

    def withdraw(self, amount):
        if amount <= 0 or amount > self.balance:
            raise ValueError("too much, or not positive")
        self.balance -= amount
#: honest property
class Account:
    __slots__ = ("_entries",)

    def __init__(self):
        self._entries = []

    @property
    def balance(self):
        return sum(self._entries)

    def deposit(self, amount):
        self._change(amount, amount)

    def withdraw(self, amount):
        self._change(amount, -amount)

    def _change(self, amount, by):
        if amount <= 0 or self.balance + by < 0:
            raise ValueError(amount)
        self._entries.append(by)
#: honest dataclass
from dataclasses import dataclass


@dataclass
class Account:
    balance: int = 0

    def deposit(self, amount):
        if not amount > 0:
            raise ValueError
        self.balance = self.balance + amount

    def withdraw(self, amount):
        if not 0 < amount <= self.balance:
            raise ValueError
        self.balance = self.balance - amount
#: honest inherits
class Ledger:
    def __init__(self):
        self.balance = 0

    def _need(self, fine):
        if not fine:
            raise type("Refused", (ValueError,), {})("refused")


class Account(Ledger):
    def deposit(self, amount):
        self._need(amount > 0)
        self.balance += amount

    def withdraw(self, amount):
        self._need(0 < amount <= self.balance)
        self.balance -= amount
#: wrong overdraft
class Account:
    balance = 0

    def deposit(self, amount):
        self.balance += amount + 1

    def withdraw(self, amount):
        self.balance -= amount
#: wrong shared
class Account:
    balance = 5

    def deposit(self, amount):
        Account.balance += amount

    def withdraw(self, amount):
        Account.balance -= amount
