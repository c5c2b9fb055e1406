"""The release spec: YAML in, a frozen model out, every problem reported at once."""

from ppdp_spark.spec.attack import Attack, Knowledge, Mine, NamedPerson, Subject
from ppdp_spark.spec.columns import Columns, Input, QuasiIdentifier, Sensitive
from ppdp_spark.spec.privacy import (
    AlphaK,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    Prior,
    Privacy,
    Robustness,
    Skyline,
    SkylinePoint,
    TCloseness,
)
from ppdp_spark.spec.release import Command, Explore, Output, ReleaseSpec, Suppression

__all__ = [
    "AlphaK",
    "Attack",
    "BetaLikeness",
    "Columns",
    "Command",
    "DeltaDisclosure",
    "Explore",
    "Input",
    "Knowledge",
    "LDiversity",
    "Mine",
    "NamedPerson",
    "Output",
    "Prior",
    "Privacy",
    "QuasiIdentifier",
    "ReleaseSpec",
    "Robustness",
    "Sensitive",
    "Skyline",
    "SkylinePoint",
    "Subject",
    "Suppression",
    "TCloseness",
]
