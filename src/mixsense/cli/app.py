"""All commands. Each module here is light: what a command needs to run is imported when it runs."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from typer import Abort as Abort

import mixsense
from mixsense.cli.audit import audit_command
from mixsense.cli.demo import demo_command
from mixsense.cli.exits import OF_RESULTS, ExitCode, epilog
from mixsense.cli.figures import figures_command
from mixsense.cli.fit import fit_command
from mixsense.cli.plan import plan_command
from mixsense.cli.recover import recover_command
from mixsense.cli.study import app as study_app
from mixsense.cli.sweep import sweep_command
from mixsense.cli.wording import FILE, speak_of

Misuse: type[Exception] = typer.BadParameter.__mro__[1]
"""What is raised for options that are missing, unknown or wrong: the UsageError of the click that typer comes with."""

app = typer.Typer(
    name="mixsense",
    help="Recover sparse linear models from an oracle that answers each question with one of them, at random.",
    epilog=epilog(*ExitCode),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mixsense {mixsense.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    commands: dict[str, Any] = getattr(context.command, "commands", {})
    speak_of(_options(commands, context.invoked_subcommand or ""))


def _options(commands: dict[str, Any], name: str) -> set[str]:
    """Return what messages of a command may name: its options, and those of the command that a plan is made for."""
    found = {flag for option in getattr(commands.get(name), "params", ()) for flag in option.opts}
    if name in ("study", "sweep"):
        return found | {FILE}
    return found | _options(commands, "recover") if name == "plan" else found


def unwrapped(text: str) -> str:
    r"""Return the text of a docstring with a line for each paragraph: terminals of any width break it themselves.

    Examples
    --------
    >>> unwrapped("What it does.\n\nMore, in lines\nof a file.")
    'What it does.\n\nMore, in lines of a file.'
    """
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _unwrap(of: typer.Typer) -> None:
    """Let the help of all commands have lines as long as the terminal."""
    for command in of.registered_commands:
        command.help = unwrapped(command.help or inspect.getdoc(command.callback) or "")
    for group in of.registered_groups:
        if group.typer_instance is not None:
            _unwrap(group.typer_instance)


app.command("demo", epilog=epilog())(demo_command)
app.command("recover", epilog=epilog(*OF_RESULTS))(recover_command)
app.command("fit", epilog=epilog(ExitCode.SINGLE, ExitCode.UNCERTAIN))(fit_command)
app.command("plan", epilog=epilog())(plan_command)
app.command("sweep", epilog=epilog())(sweep_command)
app.command("figures", epilog=epilog())(figures_command)
app.command("audit", epilog=epilog(*OF_RESULTS, ExitCode.PREFLIGHT))(audit_command)
app.add_typer(study_app, name="study")
_unwrap(app)
