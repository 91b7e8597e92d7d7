"""Tables larger than memory: datasets of files, on this machine or on a cluster."""

from diffjoint.engines.dask import DaskEngine
from diffjoint.engines.frames import (
    batch_completer,
    transform_dask,
    transform_lazy,
    transform_spark,
)
from diffjoint.engines.learn import fit_dataset, sample_dataset
from diffjoint.engines.local import LocalEngine
from diffjoint.engines.manifest import Manifest, verify
from diffjoint.engines.pieces import find_dataset, is_dataset
from diffjoint.engines.report import check_dataset, report_dataset
from diffjoint.engines.spark import SparkEngine
from diffjoint.engines.start import start_engine
from diffjoint.engines.transform import transform_dataset

__all__ = [
    "DaskEngine",
    "LocalEngine",
    "Manifest",
    "SparkEngine",
    "batch_completer",
    "check_dataset",
    "find_dataset",
    "fit_dataset",
    "is_dataset",
    "report_dataset",
    "sample_dataset",
    "start_engine",
    "transform_dask",
    "transform_dataset",
    "transform_lazy",
    "transform_spark",
    "verify",
]
