"""Rewards of programs that models wrote, in the shapes that trainers call. Nothing here imports a trainer.

Three things are told apart, whatever the trainer: a program that is wrong has a reward, an answer without a program has one
that you choose (0.0), and where zygo itself has failed there is none: what that looks like is the trainer's own way of
leaving a sample out. A mistake of the caller and a lost runtime raise.
"""

from .scoring import Scorer, program_of
from .trainers import nemo_gym, open_r1, trl, verifiers, verl
from .truth import tests_of

__all__ = ["Scorer", "nemo_gym", "open_r1", "program_of", "tests_of", "trl", "verifiers", "verl"]
