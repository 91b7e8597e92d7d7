"""The parts of the library that take what strangers give it, and what must hold of each."""

import copy
import csv
import io
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from diffjoint import load, read_decisions
from diffjoint.io.files import read_file, write_file
from diffjoint.io.rule_files import read_rule_file, write_rules
from diffjoint.knowledge.rules import LONGEST, read_rules
from diffjoint.settings import NA_VALUES
from diffjoint.storage.bundles import Arrays, read_bundle, write_bundle
from diffjoint.table import infer_schema, open_table
from tests.conftest import TINY, TINY_INPAINT, new_imputer
from tests.fuzz.alter import alter
from tests.fuzz.choices import Choices
from tests.fuzz.grammar import decisions_of, rule_of
from tests.fuzz.judge import ChangedError, Target

TABLE = pd.DataFrame(
    {
        "age": [31.0, None, 45.0, 60.5],
        "married": ["yes", "no", None, "yes"],
        "n rooms": pd.array([1, 2, None, 5], dtype="Int64"),
        "paid": pd.array([True, False, True, None], dtype="boolean"),
        "born": pd.to_datetime(["1990-01-01", None, "1979-05-01", "1964-02-29"]),
        "spouse": [30.0, None, None, 59.0],
    }
)
RULES = [
    'married == "yes"',
    'only if age >= 18 and not (married in ["yes", "no"]) or `n rooms` != 2',
    'paid and born < "1980-01-01"',
    "applies(age) or not paid",
    "18 <= age < 65",
    "age > spouse",
    "- 1 < age",
]
RULE_WORDS = [
    "age",
    "married",
    "`n",
    "rooms`",
    "paid",
    "born",
    "spouse",
    '"yes"',
    "'no'",
    '"1980-01-01"',
    "1",
    "2.5",
    "1e9",
    "-1",
    "True",
    "False",
    "None",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "not",
    "and",
    "or",
    "(",
    ")",
    "[",
    "]",
    ",",
    "only",
    "if",
    "applies(",
    "`",
    '"',
    "'",
    "\\",
    "{",
    "}",
    ":",
    "=",
    "~",
    "+",
    "*",
    "**",
    "is",
    "lambda",
    "if",
    "else",
    "0x10",
    "1_000",
    "1j",
    "9999999999999999999999",
    ".",
    "@",
    "#",
    ";",
    'f"x"',
    "b''",
    ":=",
    "...",
]
CSV_SEEDS = [
    'a,b,c\n1,x,2020-01-01\n,,\n002,"y, z",2021-12-31\n1.50,NA,\n',
    '"a\nb";c\n00123;"1,5"\n;-\n1e5;0x1\n',
    "a\tb\n1\t\n\n12345678901234567890\tx\n",
    "a\n1\n\n2\n",
    "a,a\nTrue,1\nFalse,\n",
    'n,"x"\r\n1,"a\r\nb"\r\n2,\r\n',
    "\ufeffa,b\n\u2028,\x85\n1,\n",
    "t,v\n2020-01-01 12:30,1.10\n,\n2020-01-02 00:00,2.25\n",
]
CSV_WORDS = [",", ";", "\t", "|", '"', '""', "\n", "\r\n", "\r", "\u2028", "\x85", "\x0b", "\x00",
    "NA", "nan", "inf", "1", "-1", "0.10", "1e5", "007", "2020-01-01", "12:30", "Z", "True", "\ufeff",
    "٣", "\ufffd", "1_000", " ", "'", "="]  # fmt: skip
DECISIONS = [
    "row,column,decision\n1,age,lost\n2,spouse,meaningful\n",
    "row,column,decision,why\n1.0,'=x,\n2, married ,LOST\n",
    '"row";column;decision\n0;born;lost\n',
]
DECISION_WORDS = ["row", "column", "decision", "age", "spouse", "born", "lost", "meaningful", ",", ";",
    "\n", '"', "'", "=", "-1", "1e3", "1.0", "99999999999999999999", "nan", "\x00", "٣"]  # fmt: skip
RULE_FILES = [
    "[rules]\nspouse_age = 'married == \"yes\"'\n",
    '"a b" = """x"""\n# note\n[rules.sub]\nx = 1\n',
    "column,universe\nspouse,married == 1\nage,\n",
    "name;universe\nx;y\n",
]
RULE_FILE_WORDS = ["[rules]", "=", '"', "'", '"""', "'''", "\n", "#", ".", "[", "]", "{", "}", "\\u",
    "\\", ",", "column", "name", "universe", "1979-05-27", "inf", "0x", "true", "\x00"]  # fmt: skip
MOST_ALTERED = 3
MODELS = ("values", "trees", "diffusion", "inpaint", "auto")


def words(*of: str) -> tuple[bytes, ...]:
    return tuple(word.encode() for word in of)


@cache
def _opened() -> tuple[Any, Any]:
    table = open_table(TABLE)
    return table, infer_schema(table)


def try_rule(data: bytes, folder: Path) -> None:
    """A rule is refused, or answers about any values.

    A quarter of all inputs are made of its words, a quarter by its grammar.
    """
    if data[:1] < b"\x80":
        text = data[1:].decode("utf-8", "surrogateescape")
    elif data[:1] >= b"\xc0":
        text = rule_of(Choices(data[1:]))
    else:
        text = " ".join(RULE_WORDS[byte % len(RULE_WORDS)] for byte in data[1:])
    table, schema = _opened()
    (rule,) = read_rules({"spouse": text}, table, schema)
    values = np.array([[31, 1, 2, 1, 1e15, 30], [np.nan] * 6, [-1, 0, 1e300, 0, 0, 60.0]])
    answers = np.asarray(rule.answers(values, np.isnan(values) & [[True], [True], [False]]))
    if answers.shape != (3,) or not np.isin(answers, [0, 1, 2]).all():
        raise ChangedError(f"{answers!r} is no answer to {text!r}")


ENCODINGS = ("utf-8", "utf-8", "utf-8", "latin-1", "utf-16", "cp1252", "utf-7", "shift_jis")


def try_text_table(data: bytes, folder: Path) -> None:
    """A text file is refused, or comes back with all observed cells as they were."""
    how = data[0] if data else 0
    suffix, encoding = (".csv", ".tsv")[how % 2], ENCODINGS[how // 2 % len(ENCODINGS)]
    source, out = folder / f"in{suffix}", folder / "out.csv"
    source.write_bytes(data[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = read_file(str(source), encoding=encoding)
        table = file.table
        open_table(table)
        completed = table.ffill().bfill() if how >= 128 else table
        write_file(str(out), completed, file)
        n_rows = len(table)
    source_rows = _rows(source.read_bytes().decode(encoding), file.text.source)
    out_rows = _rows(out.read_bytes().decode(encoding), file.text.source)
    if len(out_rows) != n_rows + 1 or len(source_rows) != len(out_rows):
        raise ChangedError(f"{len(out_rows) - 1} rows were written of {n_rows}")
    for before, after in zip(source_rows, out_rows, strict=True):
        changed = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
        if any(cell not in {"", *NA_VALUES} for cell, _ in changed):
            raise ChangedError(f"{changed} in {before}")


def _rows(text: str, source: Any) -> list[list[str]]:
    lines = io.StringIO(text.removeprefix("\ufeff").lstrip("\r\n"), newline="")
    rows = csv.reader(lines, delimiter=source.delimiter)
    return [row or [""] for row in rows if row or len(source.names) == 1]


def try_decisions(data: bytes, folder: Path) -> None:
    """A list of decisions is refused, or decides on missing cells alone."""
    path = folder / "decisions.csv"
    path.write_bytes(data if data[:1] < b"\x80" else decisions_of(Choices(data[1:])))
    known = read_decisions(str(path), TABLE)
    decided = known["known_meaningful"] | known["known_lost"]
    if (decided & TABLE.notna()).any(axis=None):
        raise ChangedError("an observed cell was decided on")


def try_rule_file(data: bytes, folder: Path) -> None:
    """A file of rules is refused, or says the same when it is written again."""
    path, again = folder / ("rules.csv" if data[:1] >= b"\x80" else "rules.toml"), folder / "a.toml"
    path.write_bytes(data[1:])
    rules = read_rule_file(path)
    write_rules(again, rules, dict.fromkeys(rules, "a\nnote"))
    if rules and read_rule_file(again) != rules:
        raise ChangedError(f"{rules} became {read_rule_file(again)}")


@cache
def model_table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 9, 80).round(1),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], 80),
            "job": rng.choice(["a", "b"], 80),
            "pay": rng.normal(size=80),
        }
    )
    frame.loc[frame["job"] == "b", "pay"] = np.nan
    return frame.mask(rng.random(frame.shape) < 0.15)


def prepare_models(folder: Path) -> None:
    """Save a model of each kind."""
    for kind in MODELS:
        params = TINY_INPAINT if kind == "inpaint" else TINY
        columns = "auto" if kind == "auto" else ["pay", "town"]
        imputer = new_imputer(columns, **params, random_state=0).fit(model_table())
        draws = kind if kind in ("trees", "diffusion") else False
        imputer.save(folder / f"{kind}.model", draws=draws)


@cache
def _model(path: Path) -> tuple[Arrays, Any]:
    return read_bundle(path, "model")


def try_altered_model(data: bytes, folder: Path) -> None:
    """A model that was altered, and has its digest renewed, is refused or answers."""
    choices = Choices(data)
    saved, facts = _model(folder / f"{choices.choice(MODELS)}.model")
    arrays, facts = dict(saved), copy.deepcopy(facts)
    for _ in range(MOST_ALTERED):
        alter(arrays, facts, choices)
        if choices.is_over:
            break
    write_bundle(folder / "altered.model", "model", arrays, facts)
    ask(folder / "altered.model")


def try_model_bytes(data: bytes, folder: Path) -> None:
    """Any bytes are refused, or are a model that answers."""
    (folder / "bytes.model").write_bytes(data)
    ask(folder / "bytes.model")


def ask(path: Path) -> None:
    """Ask a model for all that it can say."""
    imputer, some = load(path), model_table().head(4)
    completed = imputer.transform(some)
    there = some.notna()
    if not completed[there].equals(some[there]):
        raise ChangedError("an observed cell was changed")
    imputer.predict_mm_proba(some)
    imputer.explain(some.head(2))
    if imputer.can_sample_:
        imputer.sample(some, 1)


def _headers() -> Iterator[bytes]:
    """Safetensors files with headers that are not those of a model."""
    for header in (b"{}", b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', b"[" * 100):
        yield len(header).to_bytes(8, "little") + header + bytes(4)
    yield (1 << 62).to_bytes(8, "little")


def seeds(texts: list[str], first: bytes = b"\x00") -> tuple[bytes, ...]:
    return tuple(first + text.encode() for text in texts)


TARGETS = {
    "rules": Target(
        try_rule,
        (
            *seeds(RULES),
            *(bytes([150, i]) for i in range(len(RULE_WORDS))),
            *(bytes([200, how, how]) for how in range(24)),
        ),
        words(*RULE_WORDS),
        1_000_000,
        longest=LONGEST + 100,
    ),
    "text tables": Target(try_text_table, seeds(CSV_SEEDS), words(*CSV_WORDS), 50_000),
    "decisions": Target(
        try_decisions,
        (*seeds(DECISIONS, b""), *(bytes([200, how, 1, how, how]) for how in range(9))),
        words(*DECISION_WORDS),
        20_000,
    ),
    "rule files": Target(
        try_rule_file,
        (*seeds(RULE_FILES[:2]), *seeds(RULE_FILES[2:], b"\x80")),
        words(*RULE_FILE_WORDS),
        100_000,
    ),
    "altered models": Target(
        try_altered_model,
        tuple(bytes([kind, 0, i]) for kind in range(len(MODELS)) for i in range(0, 255, 9)),
        (),
        10_000,
        prepare=prepare_models,
        longest=64,
    ),
    "model bytes": Target(
        try_model_bytes,
        tuple(_headers()),
        (b"__metadata__", b"diffjoint", b"F32", b"data_offsets", b"shape", b"dtype", b'\\"'),
        100_000,
        longest=2_048,
    ),
}
