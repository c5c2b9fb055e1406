"""ART and Anatomy inside one task: people packed into groups, bottom-up [ART, Section V].

where
    fragment         ART: r-robust groups in the joint or the binary model
    anatomy_buckets  Anatomy: groups of ℓ distinct values, the plain baseline
    condition        whether one group satisfies the rules
    classes          classes of people with equal priors
    similarity       who is near to whom
    deal             a block of people dealt into groups of distinct values
    rounds           every node of the tree deals who is left in it
    residue          who is left after that is added to finished groups
    bottom_up        ART and Anatomy as ways to place people
    top_down         Mondrian with robustness: groups chosen from a tree, the rest packed
"""

from ppdp_spark.core.partition.art.anatomy_buckets import anatomy
from ppdp_spark.core.partition.art.bottom_up import AnatomyPlacement, ArtPlacement
from ppdp_spark.core.partition.art.fragment import pack
from ppdp_spark.core.partition.art.top_down import TreePlacement
from ppdp_spark.core.partition.packed_groups import PackedGroups

__all__ = ["AnatomyPlacement", "ArtPlacement", "PackedGroups", "TreePlacement", "anatomy", "pack"]
