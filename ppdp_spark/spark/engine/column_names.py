"""Names of the columns that ppdp-spark itself adds, in one place, and how user columns are named."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from ppdp_spark.core.data.forms import COUNT as COUNT
from ppdp_spark.core.data.forms import GROUP_ID as GROUP_ID
from ppdp_spark.core.data.forms import PEOPLE as PEOPLE

FRAGMENT = "fragment"
CONTENT = "content"
SENSITIVE = "sensitive"
PATH = "path"
SIZE = "size"
SOUND = "sound"
PENALTY = "penalty"
AUDIT = "audit"
VALUE = "value"
HOUSEHOLD_NAME = ("household_0", "household_1")
"""Together they name the household of a row."""

HOUSEHOLD_NUMBERS, HOUSEHOLD_VALUES = "household_numbers", "household_values"
"""Of groups, for the owner: each person's household, numbered within the group, and the person's value."""

HOUSEHOLD = "household"
"""Such a number in the owner's table."""

WEIGHT = "weight"
"""How many people of the population a row stands for, in units of `core/data/weight_units`."""

WEIGHTS, POPULATION = "weights", "population"
"""Of groups: these units of each person, for the owner, and their sum."""

COUNTED_VALUES, COUNTS = "group_values", "group_counts"
"""Of groups: the values that occur, and how often."""

LOWS, HIGHS = "prior_lows", "prior_highs"
"""Of groups: the extrema of the priors of these values, in each attribute set."""


def code(position: int) -> str:
    """The column of codes of the quasi-identifier at `position`."""
    return f"q{position}"


def every(position: int) -> str:
    """The column with all values that people have of the quasi-identifier at `position`."""
    return f"v{position}"


def word(position: int) -> str:
    """A column of several codes in one 64-bit word."""
    return f"w{position}"


def sensitive(position: int) -> str:
    """The column of codes (or lists of texts) of the sensitive attribute at `position`."""
    return SENSITIVE if position == 0 else f"{SENSITIVE}{position}"


def kept(position: int) -> str:
    """The column published as it is at `position`."""
    return f"a{position}"


def low(position: int) -> str:
    """The lower end of a quasi-identifier's range, by the place of the quasi-identifier."""
    return f"q{position}_low"


def high(position: int) -> str:
    """The upper end of a quasi-identifier's range."""
    return f"q{position}_high"


def mixed(position: int) -> str:
    """Whether null stands beside other values of a quasi-identifier in the group."""
    return f"q{position}_mixed"


def label(position: int) -> str:
    """The readable label of a quasi-identifier's range or set."""
    return f"q{position}_label"


def column(name: str) -> Column:
    """A user's column, whatever characters its name has."""
    return F.col(quoted(name))


def quoted(name: str) -> str:
    """A column's name as Spark's SQL writes it, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"
