"""Types that the signatures of MuJoCo share. They exist for type checkers only."""

from collections.abc import Sequence
from typing import Any, Generic, SupportsFloat, SupportsIndex, TypeAlias, TypeVar

from numpy.typing import NDArray

# MuJoCo's docstrings add SupportsInt, but a float is refused.
Integer: TypeAlias = SupportsIndex
Real: TypeAlias = SupportsFloat | SupportsIndex
Numbers: TypeAlias = Sequence[Real] | NDArray[Any]

_Get_co = TypeVar("_Get_co", covariant=True)
_Set_contra = TypeVar("_Set_contra", contravariant=True)

class Field(Generic[_Get_co, _Set_contra]):
    """A value that is read as one type and may be set to a wider one."""
    def __get__(self, instance: object, owner: type | None = None, /) -> _Get_co: ...
    def __set__(self, instance: object, value: _Set_contra, /) -> None: ...
