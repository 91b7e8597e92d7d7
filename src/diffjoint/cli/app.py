"""The commands, and what is said where a command was meant and something else is given."""

import difflib
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from diffjoint import __version__
from diffjoint.cli.commands import (
    check,
    demo,
    fit,
    impute,
    inspect,
    rules,
    score,
    simulate,
    transform,
    verify,
)
from diffjoint.cli.console import explaining_errors, fail, keep_clear
from diffjoint.cli.start import WRONG_USE


class _Commands(TyperGroup):
    """The commands; a file, or a part of another command, in their place gets a word on it."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with explaining_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with explaining_errors():
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name not in self.commands and not name.startswith("-"):
            fail(_not_a_command(name, list(self.commands)), WRONG_USE)
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="diffjoint",
    cls=_Commands,
    help=(
        "Selective imputation: fill the cells that were lost, keep those that are missing for a "
        "reason."
    ),
    epilog=(
        "Start with: [bold]diffjoint inspect survey.csv[/bold]\n\n"
        "It says what to run next, such as: [bold]diffjoint impute survey.csv completed.csv "
        "--report report.html[/bold]"
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command("inspect", epilog=inspect.EXAMPLES)(inspect.inspect)
app.command("rules", epilog=rules.EXAMPLES)(rules.rules)
app.command("check", epilog=check.EXAMPLES)(check.check)
app.command("impute", epilog=impute.EXAMPLES)(impute.impute)
app.command("fit", epilog=fit.EXAMPLES)(fit.fit)
app.command("transform", epilog=transform.EXAMPLES)(transform.transform)
app.command("verify", epilog=verify.EXAMPLES)(verify.verify)
app.command("demo")(demo.demo)
app.command("simulate", epilog=simulate.EXAMPLES)(simulate.simulate)
app.command("score", epilog=score.EXAMPLES)(score.score)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Show the version.")
    ] = False,
) -> None:
    keep_clear()
    if version:
        typer.echo(f"diffjoint {__version__}")
        raise typer.Exit


def _not_a_command(name: str, commands: list[str]) -> str:
    """Suggest what was meant, as far as that can be told."""
    if Path(name).suffix or Path(name).exists():
        return f"A command comes before the file. Start with: diffjoint inspect {shlex.quote(name)}"
    if name in ("report", "review", "self-check"):
        return (
            f"The {name} is an option of impute: diffjoint impute survey.csv completed.csv "
            f"--{name}{' FILE' if name != 'self-check' else ''}"
        )
    near = difflib.get_close_matches(name, commands, 1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"No such command {name!r}.{meant} There are {', '.join(commands)}."
