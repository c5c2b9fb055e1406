"""Publish personal data with guarantees against adversaries who know things.

from ppdp_spark import ReleaseSpec, anonymize, attack, check, verify
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ppdp_spark.commands import anonymize, attack, check, explore, suppress, verify
    from ppdp_spark.spec import ReleaseSpec

__all__ = ["ReleaseSpec", "anonymize", "attack", "check", "explore", "suppress", "verify"]


def __getattr__(name: str) -> Any:
    """Names are looked up when used, so that `ppdp --help` does not load Spark."""
    if name == "ReleaseSpec":
        from ppdp_spark.spec import ReleaseSpec

        return ReleaseSpec
    if name in __all__:
        from ppdp_spark import commands as pipeline

        return getattr(pipeline, name)
    raise AttributeError(f"module 'ppdp_spark' has no attribute {name!r}")
