"""The commands as functions: composition of the rooms below, nothing else."""

from ppdp_spark.run.installed_spark import require_spark

require_spark()

from ppdp_spark.commands.anonymize import anonymize
from ppdp_spark.commands.attack import attack
from ppdp_spark.commands.check import check
from ppdp_spark.commands.eligibility import eligibility
from ppdp_spark.commands.explore import explore
from ppdp_spark.commands.plan import plan
from ppdp_spark.commands.suppress import suppress
from ppdp_spark.commands.verify import verify
from ppdp_spark.commands.without_spec.compose import compose
from ppdp_spark.commands.without_spec.discover import discover

__all__ = [
    "anonymize",
    "attack",
    "check",
    "compose",
    "discover",
    "eligibility",
    "explore",
    "plan",
    "suppress",
    "verify",
]
