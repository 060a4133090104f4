"""A suite of tests, unmodified, against programs that it cannot be reached from."""

from zygo import grade

tests = '''
import unittest
from account import Account, Closed

class AccountTest(unittest.TestCase):
    def test_deposit(self):
        account = Account()
        account.deposit(5)
        self.assertEqual(account.balance, 5)

    def test_closed(self):
        with self.assertRaises(Closed) as caught:
            Account(open=False).deposit(1)
        self.assertEqual(caught.exception.args, ("account is closed",))
'''
good = '''
class Closed(Exception):
    pass

class Account:
    def __init__(self, open=True):
        self.open, self.balance = open, 0

    def deposit(self, amount):
        if not self.open:
            raise Closed("account is closed")
        self.balance += amount
'''
for program in good, good.replace("+= amount", "-= amount"), good.replace("self.balance += amount", "import os; os._exit(0)"):
    found = grade.run_tests(program, tests)
    print(found.label, [(test.name.rpartition("::")[2], test.label) for test in found.tests])
