"""Emergency department stays: built from MIMIC-IV-ED, or a simulated stand-in."""

from diffjoint.simulate.mimic.build import mimic_iv_ed, mimic_iv_ed_demo
from diffjoint.simulate.mimic.stand_in import mimic_like

__all__ = ["mimic_iv_ed", "mimic_iv_ed_demo", "mimic_like"]
