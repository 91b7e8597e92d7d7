"""Refuse outputs that would take the place of each other, of what is read, or cannot be written."""

import os
from collections.abc import Mapping
from pathlib import Path

from diffjoint.cli.console import keep_clear
from diffjoint.cli.options.files import Outputs
from diffjoint.errors import InputError
from diffjoint.io.files import STANDARD_STREAM, check_ending, check_standard_output
from diffjoint.io.places import check_place, is_same_place, place_of, shown
from diffjoint.storage.atomic import check_writable

Named = Mapping[str, str | Path | None]
"""Paths by the argument or option that names them; None where it is not given."""


def check_outputs(
    inputs: Named, main: Named, outputs: Outputs, *, model: Path | None = None
) -> None:
    """Find out now, not after the work, what cannot be written.

    Parameters
    ----------
    inputs : mapping
        What is read. ``--force`` lets outputs take its place.
    main : mapping
        The completed table, and a model.
    model : Path, optional
        The model that completes the table; nothing takes its place.
    """
    tables: Named = {
        "OUT": main["OUT"],
        "--mask-out": outputs.mask_out,
        "--proba-out": outputs.proba_out,
        "--uncertainty-out": outputs.uncertainty_out,
        "--review": outputs.review,
    }
    others: Named = {"--model-out": main.get("--model-out"), "--report": outputs.report}
    written = {option: path for option, path in {**tables, **others}.items() if path is not None}
    _check_distinct(written)
    keep_clear(*map(str, written.values()))
    if STANDARD_STREAM in written.values():
        check_standard_output()
    named = _files(written)
    _check_spared(named, _files({"MODEL": model}), None)
    if not outputs.force:
        _check_spared(named, _files(inputs), "--force")
    for option, path in named.items():
        place = place_of(path) if option in tables else None
        if place is not None:
            check_place(place, force=outputs.force)
            continue
        if option in tables:
            check_ending(str(path), to_write=True)
        check_writable(path)


def check_model(inputs: Named, model: Path, *, force: bool) -> None:
    """Find out now that a model cannot be saved, or would take the place of what is read."""
    if not force:
        _check_spared({"MODEL": model}, _files(inputs), "--force")
    check_writable(model)


def check_files(inputs: Named, outputs: Named) -> None:
    """Find out now that files cannot be written, or would take the place of what is read."""
    written = _files(outputs)
    _check_distinct(written)
    _check_spared(written, _files(inputs), None)
    for path in written.values():
        check_writable(path)


def _files(named: Named) -> dict[str, str | Path]:
    """Return the files among some paths: neither standard streams nor what is not given."""
    return {
        option: path
        for option, path in named.items()
        if path is not None and path != STANDARD_STREAM
    }


def _check_distinct(named: Mapping[str, str | Path]) -> None:
    options = list(named)
    for i, one in enumerate(options):
        for other in options[:i]:
            if _is_same(named[one], named[other]):
                place = shown(str(named[one]))
                raise InputError(
                    f"Two outputs are to be written to {place}: {other} and {one}. Name a file for "
                    "each."
                )


def _check_spared(
    outputs: Mapping[str, str | Path], inputs: Mapping[str, str | Path], unless: str | None
) -> None:
    for option, path in outputs.items():
        for read, source in inputs.items():
            if _is_same(path, source):
                advice = f", or pass {unless} to have it replaced" if unless else ""
                what = "file" if place_of(path) is None else "table"
                raise InputError(
                    f"{option} would be written over {read}: {shown(str(path))} is the {what} that "
                    f"is read. Name another {what}{advice}."
                )


def _is_same(one: str | Path, other: str | Path) -> bool:
    """Whether two paths lead to one file: by another name, a link or a hard link."""
    if STANDARD_STREAM in (one, other):
        return one == other
    if place_of(one) is not None or place_of(other) is not None:
        return is_same_place(str(one), str(other))
    try:
        if Path(one).samefile(other):
            return True
    except OSError:
        pass
    return os.path.realpath(one) == os.path.realpath(other)
