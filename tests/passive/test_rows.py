"""The rows of a batch that leave their device, of every library."""

import numpy as np
from contact_viewer.passive.batch import one_row

from ..array_libraries import Library, each_library


@each_library
def test_one_row_of_any_librarys_array_is_copied(library: Library) -> None:
    values = np.arange(12.0).reshape(3, 4)
    for dtype in library.dtypes:
        row = one_row(library.array(values, dtype), 1)
        assert isinstance(row, np.ndarray)
        np.testing.assert_array_equal(row.astype(float), values[1])
    np.testing.assert_array_equal(one_row(library.array(values[:, 0]), 2), values[2, 0])
