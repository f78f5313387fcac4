"""torch's functions by their names in the array API standard. This module is imported when a tensor is first seen."""

from typing import Any

from torch import abs as abs
from torch import amax as max  # torch.max returns positions too
from torch import any as any
from torch import arange as arange
from torch import asarray as asarray
from torch import concat as concat
from torch import cumsum as cumulative_sum
from torch import floor as floor
from torch import int32 as int32
from torch import isfinite as isfinite
from torch import isnan as isnan
from torch import ones_like as ones_like
from torch import reshape as reshape
from torch import sqrt as sqrt
from torch import stack as stack
from torch import sum as sum
from torch import where as where
from torch import zeros as zeros
from torch import zeros_like as zeros_like

__all__ = ["cumulative_sum", "max"]


def astype(array: Any, dtype: Any) -> Any:
    return array.to(dtype)


def isdtype(dtype: Any, kind: str) -> bool:
    assert kind == "real floating"
    return bool(dtype.is_floating_point)
