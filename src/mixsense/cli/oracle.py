"""Which oracle a command asks: a table of all kinds, and the choice among them.

A new kind is a file in `mixsense.oracles` and a line in `KINDS`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pkgutil
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

from mixsense.checks import one_line
from mixsense.errors import InvalidInput, OracleError

if TYPE_CHECKING:
    from mixsense.oracles import SimulatedOracle
    from mixsense.oracles.abilities import Confirming
    from mixsense.oracles.command import CommandOracle
    from mixsense.rounds import Oracle


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of oracle that a command can ask."""

    wanted: str
    """How a message asks for it."""
    home: str
    """What makes it, as module:callable; called with the value that was given, and the settings by their names."""
    settings: tuple[str, ...] = ()
    """The settings that it takes."""
    address: tuple[str, ...] = ()
    """How a command's argument begins if it is of this kind; others are given with an option of the kind's name."""
    identity: Callable[[str], str] = str
    """What a study stores to tell it from another one: no secrets."""
    audited: bool = False
    """Whether `mixsense audit` can ask it: it takes `features`, and is a context manager."""
    parallel: bool = False
    """Whether it takes several questions at a time."""
    extras: Mapping[str, str] = field(default_factory=dict)
    """The optional packages that it needs, each with the extra that brings it."""


def _program(command: str) -> str:
    return "program " + hashlib.sha256(os.fsencode(command)).hexdigest()[:16]


def _without_query(url: str) -> str:
    from mixsense.oracles.transport import Target

    return str(Target.parse(url))


_PROGRAM = ("body", "answer", "timeout", "concurrency")
_HTTP = ("body", "answer", "headers", "rate", "concurrency", "timeout", "retries", "limit", "fresh", "hosts")
_SIMULATION = ("n", "k", "gap", "sigma", "models", "weights", "seed", "exact", "fractions", "scale")

KINDS = {
    "function": Kind("an oracle as module:callable", "mixsense.cli.oracle:own_function"),
    "simulate": Kind("--simulate", "mixsense.cli.oracle:simulated", _SIMULATION),
    "url": Kind(
        "the address of an endpoint",
        "mixsense.oracles.http:HTTPOracle",
        _HTTP,
        ("http://", "https://"),
        identity=_without_query,
        audited=True,
        parallel=True,
        extras={"h11": "http", "certifi": "http"},
    ),
    "command": Kind(
        "a program with --command", "mixsense.cli.oracle:program", _PROGRAM, identity=_program, audited=True
    ),
}
"""Every kind of oracle, by its name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The oracle that a command was given."""

    name: str
    value: Any

    @property
    def kind(self) -> Kind:
        """The kind of the oracle."""
        return KINDS[self.name]

    @property
    def identity(self) -> str:
        """What tells it from another oracle."""
        return self.kind.identity(str(self.value))

    @contextlib.contextmanager
    def opened(self, features: list[str] | None = None, **settings: Any) -> Iterator[Any]:
        """Make the oracle, and close it in the end."""
        for key in settings:
            if key not in self.kind.settings:
                raise InvalidInput(f"{key!r} does not go with {self.kind.wanted}: leave it out")
        if not self.kind.parallel:
            settings.pop("concurrency", None)
        make = pkgutil.resolve_name(self.kind.home)
        if not self.kind.audited:
            yield make(self.value, **settings)
            return
        with make(self.value, **settings, features=features) as oracle:
            yield oracle


def choose(argument: str | None, audited: bool = False, **options: str | bool | None) -> Choice:
    """Return the one oracle that is given, by the command's argument or by an option of the kind's name.

    Parameters
    ----------
    argument : str, optional
        An address or, where the oracle is not audited, module:function.
    audited : bool
        The command is `mixsense audit`.
    **options : str or bool
        The options that name an oracle; None or False if not given.

    Examples
    --------
    >>> choose("mylab:ask", command=None).name, choose("http://127.0.0.1/", audited=True, command=None).name
    ('function', 'url')
    """
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None and value is not False}
    if argument is not None:
        named = (name for name, kind in KINDS.items() if kind.address and argument.lower().startswith(kind.address))
        given[next(named, "url" if audited else "function")] = argument
    if len(given) != 1:
        wanted = [kind.wanted for kind in KINDS.values() if kind.audited or not audited]
        raise InvalidInput(f"give {', or '.join(wanted)}: one of them")
    return Choice(*given.popitem())


def own_function(name: str) -> Oracle:
    """Return a function of the user's, found from the current folder."""
    from mixsense.methods.registry import imported

    found: Oracle = imported(name, "oracle")
    return found


def program(command: str, **settings: Any) -> CommandOracle:
    """Return the oracle that is a program; one that is not there is wrong input, and costs no run."""
    import shlex
    import shutil

    from mixsense.oracles.command import CommandOracle

    oracle = CommandOracle(command, **settings)  # says what is wrong with the command
    name = shlex.split(command)[0]
    if shutil.which(name) is None:
        raise InvalidInput(f"the program {one_line(name, 60)!r} is not there, or cannot be run: give its path")
    return oracle


def simulated(
    _: bool,
    *,
    n: int,
    k: int | None,
    gap: float,
    sigma: float | None,
    models: int | str,
    weights: list[float] | str | None,
    seed: int,
    exact: bool,
    fractions: bool = False,
    scale: Any = None,
) -> SimulatedOracle:
    """Return a simulation of random vectors; without sigma its noise is 1, and the method has to find that out."""
    from mixsense.checks import as_int
    from mixsense.oracles import SimulatedOracle, random_models

    given = tuple(weights) if isinstance(weights, list) else None
    hidden = models if isinstance(models, int) else len(given or (1, 2))
    # NumPy's seed [s, 0] is its seed s, which draws the queries.
    truth = random_models(hidden, n, min(k or 5, n), gap, seed=[as_int("seed", seed, 0, "a seed"), 1])
    noise = 1.0 if sigma is None and not exact else sigma or 0.0
    exactly = fractions and not noise
    return SimulatedOracle(truth, noise, given, seed=[seed, 2], exact=exactly, scale=scale)


@contextlib.contextmanager
def closed(oracle: Confirming, confirm: Callable[[], None]) -> Iterator[None]:
    """Close an oracle in the end, and call `confirm` if nothing speaks against its answers then."""
    try:
        with oracle:
            yield
    except KeyboardInterrupt:
        with contextlib.suppress(OracleError):  # its doubt says the same
            oracle.close()  # goes on where Ctrl-C may have interrupted it
        raise
    finally:
        if oracle.confirmed and oracle.doubt is None:
            confirm()


@contextlib.contextmanager
def interruptible(oracle: Any) -> Iterator[None]:
    """Let Ctrl-C also end the waits of an oracle that tries again and again."""
    from mixsense.oracles.abilities import Stoppable

    if not isinstance(oracle, Stoppable) or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: FrameType | None) -> None:
        oracle.stop()
        if not callable(before):
            raise KeyboardInterrupt
        before(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
