"""What every part of a spec shares: strict scalars, and problems that are gathered, not thrown one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler
from pydantic_core import InitErrorDetails, PydanticCustomError
from typing_extensions import Self

from ppdp_spark.errors import SpecError
from ppdp_spark.spec.messages import Location, kind, located, shown, wrong_kind, wrong_value
from ppdp_spark.spec.nearest import suggestion

PROBLEM = "problem"
"""Type of the pydantic errors whose text is already worded for the user."""


def problem(text: str) -> PydanticCustomError:
    """An error with our own wording; the place is put in front of it later."""
    return PydanticCustomError(PROBLEM, "{text}", {"text": text})


def real_number(value: Any) -> Any:
    """The value itself; raises for what is no number or too large for a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise problem(wrong_kind(value, "must be a number"))
    if isinstance(value, int) and abs(value) > 10**300:
        raise problem("(a very large number) must be a finite number")
    return value


def whole_number(value: Any) -> Any:
    """The value itself; raises for what is no integer, true and 1.0 included."""
    if type(value) is not int:
        raise problem(wrong_kind(value, "must be a whole number"))
    return value


def _listed(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise problem(wrong_kind(value, "must be a list, such as [a, b]"))
    return value


def texts_of(values: list[Any]) -> list[Any]:
    """Names of values that are written as numbers or truth values as texts; all else as it is."""
    return [shown(value) if type(value) in (int, float, bool) else value for value in values]


Number = BeforeValidator(real_number)
Listed = BeforeValidator(_listed)
"""Both stand last in an `Annotated`, so that limits before them reach the JSON schema."""

Text = Annotated[str, Field(strict=True, min_length=1)]
Switch = Annotated[bool, Field(strict=True)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), Number]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False), Number]
Names = Annotated[tuple[Text, ...], Listed]
SomeNames = Annotated[tuple[Text, ...], Field(min_length=1), Listed]


def fields_of(data: Any) -> Mapping[str, Any]:
    """The fields of raw data or of a finished model; nothing for what is neither."""
    if isinstance(data, BaseModel):
        return data.model_dump(exclude_none=True)
    return data if isinstance(data, Mapping) else {}


def told(error: ValidationError) -> list[str]:
    """Each problem of a spec in one line: the place, then what is wrong with it."""
    details = error.errors(include_url=False, include_input=False)
    return list(dict.fromkeys(located(detail["loc"], detail["ctx"]["text"]) for detail in details))


class SpecModel(BaseModel):
    """A frozen part of a spec that rejects unknown keys and reports all of its problems together.

    Subclasses give `written_out` (shorthands become mappings) and `combinations` (problems between
    fields). Both see raw data, so that one wrong field does not hide what else is wrong.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    hidden: ClassVar[frozenset[str]] = frozenset()
    """Fields whose values are never echoed."""

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise SpecError(told(error)) from None

    # Parts of a spec are validated in place: their problems are gathered, not raised one by one.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def written_out(cls, data: Any) -> Any:
        """The data with shorthands expanded."""
        return data

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        """Problems that no field has by itself, as (place, text)."""
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _gather(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(data, cls):
            return handler(data)
        data = cls.written_out(dict(data) if isinstance(data, Mapping) else data)
        details: list[InitErrorDetails] = []
        model = None
        try:
            model = handler(data)
        except ValidationError as error:
            found = [dict(detail) for detail in error.errors(include_url=False)]
            details = [cls._reworded(detail) for detail in found if not _only_follows(detail)]
        if isinstance(data, Mapping):
            details += [_detail(place, text, data) for place, text in cls.combinations(data)]
        if model is None or details:
            raise ValidationError.from_exception_data(cls.__name__, details)
        return model

    @classmethod
    def _reworded(cls, detail: dict[str, Any]) -> InitErrorDetails:
        place, given, context = detail["loc"], detail["input"], detail.get("ctx", {})
        if detail["type"] == PROBLEM:
            return _detail(place, context["text"], given)
        if detail["type"] in ("extra_forbidden", "invalid_key") and len(place) == 1:
            return _detail(place, f"is not a known key; {suggestion(place[0], cls.model_fields)}", given)
        if detail["type"] == "missing":
            return _detail(place, f"is missing: add `{cls._example(str(place[0]))}`", given)
        show = kind if place and place[0] in cls.hidden else shown
        text = wrong_value(detail["type"], given, context, show) or f"is not accepted: {detail['msg']}"
        if place and place[-1] == "[key]":
            return _detail(place[:-1], f"as a key {text}", given)
        return _detail(place, text, given)

    @classmethod
    def _example(cls, name: str) -> str:
        examples = cls.model_fields[name].examples
        return f"{name}: {examples[0] if examples else '...'}"


def _only_follows(detail: dict[str, Any]) -> bool:
    """Pydantic calls a list too short when its entries are wrong; they are reported themselves."""
    return detail["type"] == "too_short" and len(detail["input"]) > 0


def _detail(place: Location, text: str, given: Any) -> InitErrorDetails:
    return InitErrorDetails(type=problem(text), loc=place, input=given)
