"""Commands take options in groups; the command line has them one by one."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints


def by_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for each field of the dataclasses among its parameters.

    Examples
    --------
    >>> @dataclasses.dataclass
    ... class Size:
    ...     width: int = 1
    >>> @by_groups
    ... def show(name: str, size: Size) -> None:
    ...     print(name, size)
    >>> inspect.signature(show)
    <Signature (*, name: str, width: int = 1) -> None>
    >>> show(name="box", width=2)
    box Size(width=2)
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {
        name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)
    }
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            options += inspect.signature(groups[name]).parameters.values()
        else:
            options.append(parameter)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        parts: dict[str, Any] = {}
        for name, group in groups.items():
            fields = inspect.signature(group).parameters
            parts[name] = group(**{field: given.pop(field) for field in fields})
        command(**given, **parts)

    expanded = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]
    run.__annotations__ = {option.name: option.annotation for option in expanded}
    run.__annotations__["return"] = None
    run.__signature__ = inspect.Signature(expanded, return_annotation=None)  # type: ignore[attr-defined]
    return run
