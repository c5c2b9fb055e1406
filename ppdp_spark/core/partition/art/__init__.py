"""ART and Anatomy inside one task: people packed into groups, bottom-up [ART, Section V].

where
    fragment    ART: r-robust groups in the joint or the binary model
    buckets     Anatomy: groups of ℓ distinct values, the plain baseline
    condition   whether one group satisfies the rules
    signatures  classes of people with equal priors
    tree        who is near to whom
    dealing     a block of people dealt into groups of distinct values
    rounds      every node of the tree deals who is left in it
    residue     who is left after that is added to finished groups
"""

from ppdp_spark.core.partition.art.anatomy_buckets import anatomy
from ppdp_spark.core.partition.art.fragment import pack
from ppdp_spark.core.partition.art.outcome import PackedGroups

__all__ = ["PackedGroups", "anatomy", "pack"]
