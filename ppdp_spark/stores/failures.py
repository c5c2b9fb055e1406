"""What a store refused, in words that name the store, what was tried and the fix, and no secret.

What libraries say is not passed on: their messages hold addresses with signatures, and answers of servers.
"""

from __future__ import annotations

import errno
import os
import re

_STATUS = re.compile(r"status(?: code)?:? (\d{3})")


class StoreError(OSError):
    """A store did not do what was asked of it."""


def missing(place: str) -> FileNotFoundError:
    """Nothing is there."""
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), place)


def lacking(place: str, package: str, extra: str) -> StoreError:
    """The library that speaks to the store is not installed."""
    return StoreError(
        f"`{place}` needs the Python package `{package}`, on Spark's workers too: "
        f"pip install 'ppdp-spark[{extra}]'"
    )


def refused(place: str, tried: str, error: BaseException, fix: str) -> StoreError:
    """A failure of a library, told by its kind."""
    return StoreError(f"`{place}` could not be {tried}: {_reason(error)}; {fix}")


def _reason(error: BaseException) -> str:
    """What kind of failure it is, from the type and the status in what the library says."""
    text, kind = str(error), type(error).__name__
    if isinstance(error, PermissionError) or kind in ("PermissionDeniedError", "UnauthenticatedError"):
        return "permission denied"
    if "Missing" in text or "credential" in text.lower():
        return "there are no credentials"
    status = _STATUS.search(text)
    if status:
        meaning = {"403": " (permission denied)", "401": " (not logged in)", "503": " (too many requests)"}
        return f"the store answered {status[1]}{meaning.get(status[1], '')}"
    if re.search(r"error sending request|[Cc]onnect|timed? ?out|dns", text):
        return "the store does not answer"
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else kind
