"""Save the passes of a run, and resume an interrupted run after its last complete pass."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from diffjoint._types import Values
from diffjoint.diffusion.aggregate import Aggregated
from diffjoint.diffusion.algorithm1 import Pass
from diffjoint.diffusion.edm import Denoiser, new_denoiser
from diffjoint.errors import FileError, InputError, in_python, option
from diffjoint.settings import AMORTISED_ONLY, Settings
from diffjoint.state import JointSpace
from diffjoint.storage.atomic import check_writable
from diffjoint.storage.bundles import DENOISER, Arrays, read_bundle, write_bundle

FILE_NAME = "checkpoint.diffjoint"
_CELLS = ("values", "uncertainty", "meaningful_score", "clusters")


@dataclass(frozen=True)
class Resumed:
    """State of an interrupted run after its last complete pass."""

    seed: int
    last: Pass
    history: list[dict[str, Any]]


class Checkpoint:
    """File that holds the last complete pass of one run.

    Parameters
    ----------
    folder : path
    fingerprint : str
        Identifies the run; see :func:`fingerprint`.
    device : torch.device
        Device of a resumed denoiser.
    """

    def __init__(
        self, folder: str | os.PathLike[str], fingerprint: str, device: torch.device
    ) -> None:
        self.path = Path(folder) / FILE_NAME
        self.fingerprint = fingerprint
        self.device = device
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(
                f"Cannot use {folder} as checkpoint: {error.strerror}. Name a folder that exists "
                "or can be made.",
                parameter="checkpoint",
            ) from error
        check_writable(self.path)

    def save(self, seed: int, done: Pass, history: list[dict[str, Any]]) -> None:
        """Save a pass; it replaces the one before."""
        cells = {name: getattr(done.aggregated, name) for name in _CELLS}
        facts = {
            "fingerprint": self.fingerprint,
            "seed": seed,
            "iteration": done.iteration,
            "loss": done.loss,
            "n_epochs": done.n_epochs,
            "history": history,
        }
        write_bundle(self.path, "checkpoint", {**cells, **weights(done.denoiser)}, facts)

    def resume(self, seed: int | None, space: JointSpace, settings: Settings) -> Resumed | None:
        """Return the last complete pass, or None if there is none; raise if it is another run's."""
        if not self.path.exists():
            return None
        arrays, facts = read_bundle(self.path, "checkpoint")
        same_seed = seed is None or seed == facts["seed"]
        if facts["fingerprint"] != self.fingerprint or not same_seed:
            raise InputError(
                f"{self.path} belongs to a run on another table, with other settings or with "
                f"another {option('random_state')}. Go on with those, or name another folder, or "
                "delete the file to start anew.",
                parameter="checkpoint",
            )
        cells = {name: arrays.pop(name) for name in _CELLS}
        aggregated = Aggregated(**cells, threshold=settings.threshold)
        denoiser = denoiser_from(arrays, space.n_coordinates, settings, self.device)
        last = Pass(facts["iteration"], denoiser, aggregated, facts["loss"], facts["n_epochs"])
        return Resumed(facts["seed"], last, facts["history"])


def fingerprint(values: Values, space: JointSpace, settings: Settings, detector: Any) -> str:
    """Hash what identifies a run, except its seed: table, columns, settings and detector."""
    used = {name: n for name, n in asdict(settings).items() if name not in AMORTISED_ONLY}
    facts = [used, space.schema.to_json(), space.mm, detector]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


@contextmanager
def explained_interrupts(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Add resume instructions to KeyboardInterrupt."""
    try:
        yield
    except KeyboardInterrupt as error:
        if checkpoint is not None and checkpoint.path.exists():
            folder = checkpoint.path.parent
            advice = f"Whole passes are saved in {folder}; start the same run again to go on."
        elif checkpoint is not None:
            advice = "No pass was complete yet, so nothing was saved."
        else:
            to_go_on = f"set {option('checkpoint')} to a folder to be able to go on"
            advice = f"Nothing was saved; {to_go_on}."
        raise KeyboardInterrupt(in_python(f"Interrupted. {advice}")) from error


def weights(denoiser: Denoiser) -> Arrays:
    """Return the weights of a denoiser by name."""
    return {
        f"{DENOISER}{name}": tensor.detach().cpu().numpy()
        for name, tensor in denoiser.state_dict().items()
    }


def denoiser_from(
    arrays: Arrays, n_coordinates: int, settings: Settings, device: torch.device
) -> Denoiser:
    """Return the denoiser with weights from :func:`weights`."""
    denoiser = new_denoiser(
        n_coordinates,
        settings.width,
        settings.sigma_data,
        torch.Generator(device),
        conditional=settings.is_amortised,
    )
    if settings.standardised:
        denoiser.set_scaling(torch.zeros(n_coordinates), torch.ones(n_coordinates))
    tensors = {
        name.removeprefix(DENOISER): torch.from_numpy(array.copy())
        for name, array in arrays.items()
        if name.startswith(DENOISER)
    }
    denoiser.load_state_dict(tensors)
    return denoiser.to(device).eval()
