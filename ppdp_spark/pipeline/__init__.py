"""The commands as functions: composition of the rooms below, nothing else."""

from ppdp_spark.pipeline.anonymize import anonymize
from ppdp_spark.pipeline.attack import attack
from ppdp_spark.pipeline.check import check
from ppdp_spark.pipeline.explore import explore
from ppdp_spark.pipeline.suppress import suppress
from ppdp_spark.pipeline.verify import verify

__all__ = ["anonymize", "attack", "check", "explore", "suppress", "verify"]
