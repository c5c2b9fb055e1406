"""Privacy-MaxEnt: what an adversary with background knowledge infers from a bucketized release [MaxEnt].

where
    buckets     a release as arrays, and the variables P(q, s, b)
    people      people known by name, split off from the tuples they share
    knowledge   statements as frozen objects
    compiling   statements as rows over the variables
    system      those rows
    presolve    zeros and forced values, to a fixed point
    components  what can be solved apart
    passes      one pass over some buckets: what an executor computes
    kernels     the compiled loops of a pass
    newton      the driver's side: damped Newton on the multipliers of the statements
    dependence  statements that others imply
    quadratic   the Newton step under sign constraints
    solver      all of it on one machine
    portions    a portion of the buckets and the tasks of an executor
    spread      the driver's side of buckets that lie in many places
    conflict    a minimal set of statements that contradict each other
    invariants  how far a distribution is from counts and statements
    scores      posteriors, worst linkages, distance from the truth
"""

from ppdp_spark.core.maxent.buckets import Buckets, buckets_from_rows, buckets_from_tables, closed_form
from ppdp_spark.core.maxent.scores import (
    Posterior,
    Score,
    estimation_accuracy,
    posterior,
    posterior_of_people,
    score,
    true_posterior,
)
from ppdp_spark.core.maxent.solve.conflict import ContradictionError, minimal_conflict
from ppdp_spark.core.maxent.solve.distributed_solver import SpreadBuckets, header_of, spread_maximum_entropy
from ppdp_spark.core.maxent.solve.newton import Targets, Totals, minimise
from ppdp_spark.core.maxent.solve.passes import Part, PartValue, bucket_part
from ppdp_spark.core.maxent.solve.portions import Portion
from ppdp_spark.core.maxent.solve.solver import Effort, Solution, maximum_entropy, targets_of
from ppdp_spark.core.maxent.statements.kinds import (
    Between,
    Statement,
    Term,
    comparison,
    people_with,
    probability,
    term,
)
from ppdp_spark.core.maxent.statements.people import Named, Person, with_people
from ppdp_spark.core.maxent.statements.rows import Vocabulary, compiled, populations, rows_of
from ppdp_spark.core.maxent.statements.system import System, system

__all__ = [
    "Between",
    "Buckets",
    "ContradictionError",
    "Effort",
    "Named",
    "Part",
    "PartValue",
    "Person",
    "Portion",
    "Posterior",
    "Score",
    "Solution",
    "SpreadBuckets",
    "Statement",
    "System",
    "Targets",
    "Term",
    "Totals",
    "Vocabulary",
    "bucket_part",
    "buckets_from_rows",
    "buckets_from_tables",
    "closed_form",
    "comparison",
    "compiled",
    "estimation_accuracy",
    "header_of",
    "maximum_entropy",
    "minimal_conflict",
    "minimise",
    "people_with",
    "populations",
    "posterior",
    "posterior_of_people",
    "probability",
    "rows_of",
    "score",
    "spread_maximum_entropy",
    "system",
    "targets_of",
    "term",
    "true_posterior",
    "with_people",
]
