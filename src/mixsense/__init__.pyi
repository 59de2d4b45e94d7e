"""Every public name, once: `mixsense.__getattr__` and type checkers read this list."""

from mixsense import datasets as datasets
from mixsense import decode as decode
from mixsense import methods as methods
from mixsense import mixture as mixture
from mixsense import oracles as oracles
from mixsense import plots as plots
from mixsense.api import fit as fit
from mixsense.api import recover as recover
from mixsense.errors import BudgetError as BudgetError
from mixsense.errors import InvalidInput as InvalidInput
from mixsense.errors import MixsenseError as MixsenseError
from mixsense.errors import ModelError as ModelError
from mixsense.errors import OracleError as OracleError
from mixsense.errors import StudyError as StudyError
from mixsense.estimator import SparseMixtureRegressor as SparseMixtureRegressor
from mixsense.methods import design as design
from mixsense.methods.paper import align as align
from mixsense.methods.paper import constants as constants
from mixsense.methods.paper import estimate as estimate
from mixsense.metrics import match_error as match_error
from mixsense.oracles import RecordedOracle as RecordedOracle
from mixsense.oracles import ReplayOracle as ReplayOracle
from mixsense.oracles import SimulatedOracle as SimulatedOracle
from mixsense.oracles import random_models as random_models
from mixsense.oracles import random_pair as random_pair
from mixsense.oracles.command import CommandOracle as CommandOracle
from mixsense.oracles.http import HTTPOracle as HTTPOracle
from mixsense.planning import limits as limits
from mixsense.planning.plan import plan as plan
from mixsense.problem import Problem as Problem
from mixsense.recovery import Recovery as Recovery
from mixsense.rounds import Asked as Asked
from mixsense.rounds import Progress as Progress
from mixsense.rounds import Round as Round
from mixsense.rounds import run as run
from mixsense.scales import Probability as Probability
from mixsense.scales import Rating as Rating
from mixsense.studies.records import Question as Question
from mixsense.studies.registry import create_study as create_study
from mixsense.studies.registry import load_study as load_study
from mixsense.studies.run import run_study as run_study
from mixsense.studies.study import Study as Study
from mixsense.sweeps.sweep import read_sweep as read_sweep
from mixsense.sweeps.sweep import sweep as sweep

__version__: str
