# Made by stubs/make_mujoco_stubs.py from MuJoCo 4.0.0.
# mypy: disable-error-code="misc, overload-overlap, overload-cannot-match, override"


class FatalError(Exception):
    ...

class UnexpectedError(Exception):
    ...
