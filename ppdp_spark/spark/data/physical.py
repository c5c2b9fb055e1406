"""The physical form of ordered values (64-bit integers or doubles), there and back, as Spark expressions."""

from __future__ import annotations

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ppdp_spark.core.data.attributes import Ordered
from ppdp_spark.core.data.grid import DAY, FIRST_DAY, LAST_DAY

_MICROS = 1_000_000
_DAYS = (FIRST_DAY, LAST_DAY)
_MOMENTS = (_DAYS[0] * DAY, (_DAYS[1] + 1) * DAY - 1)

YEARS = {"date": _DAYS, "timestamp": _MOMENTS, "timestamp_ntz": _MOMENTS}
"""Physical forms of the first and the last value of the years 1 to 9999, the range of Spark's types."""


def to_physical(value: Column, kind: str, scale: int = 0) -> Column:
    """An order-preserving number for a value; null and NaN become null, -0.0 becomes 0.0."""
    if kind == "integer":
        return value.cast("bigint")
    if kind == "float":
        double = value.cast("double")
        return F.when(~F.isnan(double), double + F.lit(0.0))
    if kind == "decimal":
        return (value * F.lit(10**scale).cast(T.DecimalType(19, 0))).cast("bigint")
    if kind == "date":
        return F.unix_date(value).cast("bigint")
    if kind == "timestamp":
        return F.unix_micros(value)
    seconds = F.hour(value) * 3600 + F.minute(value) * 60
    fraction = (F.extract(F.lit("SECOND"), value) * _MICROS).cast("bigint")
    days = F.unix_date(value.cast("date")).cast("bigint")
    # Before 1970 from the day after: the beginning of the first day there is has no 64-bit form.
    after = F.when(days < 0, 1).otherwise(0)
    return (days + after) * DAY + (seconds.cast("bigint") * _MICROS + fraction - after * DAY)


def from_physical(number: Column, attribute: Ordered) -> Column:
    """The value, in the column's own type, whose physical form is `number`."""
    if attribute.kind == "decimal":
        # No wider than this: of a product with more than 38 digits Spark would round the last ones away.
        unit = F.lit(Decimal(1).scaleb(-attribute.scale)).cast(
            T.DecimalType(max(1, attribute.scale), attribute.scale)
        )
        return (number.cast(T.DecimalType(18, 0)) * unit).cast(attribute.type)
    if attribute.kind == "date":
        return F.date_from_unix_date(number.cast("int"))
    if attribute.kind == "timestamp":
        return F.timestamp_micros(number)
    if attribute.kind == "timestamp_ntz":
        micros = F.pmod(number, F.lit(DAY))
        truncated = F.call_function("div", number, F.lit(DAY))
        day = (truncated - F.when((number < 0) & (micros > 0), 1).otherwise(0)).cast("int")
        midnight = F.date_from_unix_date(day).cast("timestamp_ntz")
        return midnight + F.make_dt_interval(F.lit(0), F.lit(0), F.lit(0), micros / F.lit(_MICROS))
    return number.cast(attribute.type)


def range_label(low: Column, high: Column, mixed: Column, attribute: Ordered) -> Column:
    """Readable form of a range: `20`, `[20-29]`, `[-5 to 3]`, `[2001-02-03 to 2004-05-06] or null`."""
    first, last = low.cast("string"), high.cast("string")
    dash = F.lit("-") if attribute.from_zero else F.lit(" to ")
    if attribute.kind in ("date", "timestamp", "timestamp_ntz"):
        dash = F.lit(" to ")
    ranged = F.concat(F.lit("["), first, dash, last, F.lit("]"))
    label = F.when(low == high, first).otherwise(ranged)
    return F.when(mixed, F.concat(label, F.lit(" or null"))).otherwise(label)
