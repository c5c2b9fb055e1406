"""The release spec: YAML in, a frozen model out, every problem reported at once.

A spec can also be built from its parts, which have the names and the fields of the YAML file:

    from ppdp_spark.spec import ColumnsSpec, OutputSpec, PrivacySpec, QuasiIdentifierSpec, ReleaseSpec

    spec = ReleaseSpec(
        version=1,
        dataset="census",
        columns=ColumnsSpec(
            quasi_identifiers={"age": QuasiIdentifierSpec(type="numeric")}, sensitive="occupation"
        ),
        privacy=PrivacySpec(k_anonymity=10),
        output=OutputSpec(path="out/census"),
    )
"""

from ppdp_spark.spec.attack import (
    AttackSpec,
    AuditSpec,
    KnowledgeSpec,
    MineSpec,
    NamedPersonSpec,
    OriginalSpec,
    SubjectSpec,
)
from ppdp_spark.spec.columns import (
    ColumnsSpec,
    HouseholdSpec,
    InputSpec,
    LinkedSpec,
    PersonSpec,
    QuasiIdentifierSpec,
    SensitiveSpec,
    WeightSpec,
)
from ppdp_spark.spec.privacy import (
    AlphaKSpec,
    BetaLikenessSpec,
    DeltaDisclosureSpec,
    LDiversitySpec,
    PriorSpec,
    PrivacySpec,
    ProximitySpec,
    RobustnessSpec,
    SkylinePointSpec,
    SkylineSpec,
    TClosenessSpec,
)
from ppdp_spark.spec.release import (
    Command,
    CompositionSpec,
    ExploreSpec,
    OutputSpec,
    ReleaseSpec,
    SpecLike,
    SuppressionSpec,
)

__all__ = [
    "AlphaKSpec",
    "AttackSpec",
    "AuditSpec",
    "BetaLikenessSpec",
    "ColumnsSpec",
    "Command",
    "CompositionSpec",
    "DeltaDisclosureSpec",
    "ExploreSpec",
    "HouseholdSpec",
    "InputSpec",
    "KnowledgeSpec",
    "LDiversitySpec",
    "LinkedSpec",
    "MineSpec",
    "NamedPersonSpec",
    "OriginalSpec",
    "OutputSpec",
    "PersonSpec",
    "PriorSpec",
    "PrivacySpec",
    "ProximitySpec",
    "QuasiIdentifierSpec",
    "ReleaseSpec",
    "RobustnessSpec",
    "SensitiveSpec",
    "SkylinePointSpec",
    "SkylineSpec",
    "SpecLike",
    "SubjectSpec",
    "SuppressionSpec",
    "TClosenessSpec",
    "WeightSpec",
]
