"""From a family's plain data to the model of its part of a spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler, WithJsonSchema, create_model
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ppdp_spark.core.criteria.family import REQUIRED, Family, Parameter
from ppdp_spark.errors import SpecError
from ppdp_spark.spec.columns import with_shorthand
from ppdp_spark.spec.fields import Number, SpecModel
from ppdp_spark.spec.messages import Location


def criterion_model(family: Family, module: str) -> type[CriterionSpec]:
    """The model of a family's parameters, as if written in a module: `LDiversitySpec` of `l_diversity`."""
    name = "".join(part.capitalize() for part in family.field.split("_")) + "Spec"
    fields: dict[str, Any] = {parameter.name: _typed(parameter) for parameter in family.parameters or ()}
    require_free_names(list(fields), CriterionSpec)
    model = create_model(name, __base__=CriterionSpec, __module__=module, **fields)
    model.family, model.__doc__ = family, family.summary
    return model


class CriterionSpec(SpecModel):
    """The parameters of one criterion, as its family declares them."""

    family: ClassVar[Family]

    @classmethod
    def written_out(cls, data: Any) -> Any:
        short = cls.family.shorthand
        if short is not None and isinstance(data, int | float) and not isinstance(data, bool):
            return {short: data}
        return cls.family.written_out(data)

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        yield from cls.family.rules(data)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        if cls.family.shorthand is not None:
            told = ("title", "default", "examples", "description")
            long_form = handler.resolve_ref_schema(schema)["properties"][cls.family.shorthand]
            with_shorthand(schema, handler, {key: long_form[key] for key in long_form if key not in told})
        return schema


def _typed(parameter: Parameter) -> tuple[Any, Any]:
    """The type of a parameter with its limits, and its default."""
    limits: dict[str, Any] = {"gt": parameter.above, "ge": parameter.least, "le": parameter.most}
    limits = {name: limit for name, limit in limits.items() if limit is not None}
    if parameter.kind == "choice":
        wanted: Any = Literal[parameter.choices]
    elif parameter.kind == "whole":
        wanted = Annotated[int, Field(strict=True, **limits)]
    elif parameter.kind == "number":
        wanted = Annotated[float, Field(allow_inf_nan=False, **limits), Number]
    else:
        names = {"gt": "exclusiveMinimum", "ge": "minimum", "le": "maximum"}
        schema = {"type": "number", **{names[name]: limit for name, limit in limits.items()}}
        wanted = Annotated[int | float, Field(**limits), Number, WithJsonSchema(schema)]
    optional = parameter.default is None
    told: dict[str, Any] = {"description": parameter.description} if parameter.description is not None else {}
    if parameter.example is not None:
        told["examples"] = [parameter.example]
    if parameter.default is not REQUIRED:
        told["default"] = parameter.default
    return (wanted | None if optional else wanted), Field(**told)


def require_free_names(names: Sequence[str], model: type[SpecModel]) -> None:
    """Raise a `SpecError` for fields that a model could not have, since it uses their names itself."""
    taken = [name for name in names if hasattr(model, name)]
    if taken:
        told = "a criterion of another package has a field `{}`, which is taken: rename it"
        raise SpecError([told.format(name) for name in taken])


def bare_type(family: Family) -> Any:
    """The type of a field that is its only parameter itself."""
    (parameter,) = family.parameters or ()
    return _typed(parameter)[0]
