"""The release spec: YAML in, a frozen model out, every problem reported at once."""

from ppdp_spark.spec.attack import AttackSpec, KnowledgeSpec, MineSpec, NamedPersonSpec, SubjectSpec
from ppdp_spark.spec.columns import ColumnsSpec, InputSpec, QuasiIdentifierSpec, SensitiveSpec
from ppdp_spark.spec.privacy import (
    AlphaKSpec,
    BetaLikenessSpec,
    DeltaDisclosureSpec,
    LDiversitySpec,
    PriorSpec,
    PrivacySpec,
    RobustnessSpec,
    SkylinePointSpec,
    SkylineSpec,
    TClosenessSpec,
)
from ppdp_spark.spec.release import Command, ExploreSpec, OutputSpec, ReleaseSpec, SuppressionSpec

__all__ = [
    "AlphaKSpec",
    "AttackSpec",
    "BetaLikenessSpec",
    "ColumnsSpec",
    "Command",
    "DeltaDisclosureSpec",
    "ExploreSpec",
    "InputSpec",
    "KnowledgeSpec",
    "LDiversitySpec",
    "MineSpec",
    "NamedPersonSpec",
    "OutputSpec",
    "PriorSpec",
    "PrivacySpec",
    "QuasiIdentifierSpec",
    "ReleaseSpec",
    "RobustnessSpec",
    "SensitiveSpec",
    "SkylinePointSpec",
    "SkylineSpec",
    "SubjectSpec",
    "SuppressionSpec",
    "TClosenessSpec",
]
